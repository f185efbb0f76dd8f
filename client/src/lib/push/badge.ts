/** Shows on the icon of the installed client how much is unread. Not every system has a place for it. */
export function showBadge(count: number): void {
  if (!('setAppBadge' in navigator)) return;
  const done = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
  // A system without a place for it refuses.
  done.catch(() => undefined);
}
