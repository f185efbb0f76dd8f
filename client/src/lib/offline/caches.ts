/** Removes what was read for an account. The name is that of the service worker. */
export async function forgetLists(): Promise<void> {
  // Missing where the page came without encryption, or storage is off.
  if (!('caches' in globalThis)) return;
  await caches.delete('terrace-lists').catch(() => false);
}
