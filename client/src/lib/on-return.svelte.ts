/**
 * Calls `handler` when the page is shown again as it was left, as the browser does after Back from a checkout. Called while
 * a component is made.
 */
export function onReturn(handler: () => void): void {
  $effect(() => {
    const stop = new AbortController();
    const onpageshow = (event: PageTransitionEvent): void => {
      if (event.persisted) handler();
    };
    addEventListener('pageshow', onpageshow, { signal: stop.signal });
    return () => stop.abort();
  });
}
