/** Scrolls back to what has just begun, where the reader is further down. */
export function bringIntoSight(element: Element): void {
  if (element.getBoundingClientRect().top < 0) element.scrollIntoView({ block: 'start' });
}
