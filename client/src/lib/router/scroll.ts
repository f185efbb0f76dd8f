/** How far down each entry of the history was scrolled, kept over a reload. */
export class ScrollPositions {
  readonly #storage: Storage | null;

  constructor() {
    try {
      this.#storage = sessionStorage;
    } catch {
      // Storage is off: positions are lost with the page.
      this.#storage = null;
    }
  }

  save(key: string, position: number): void {
    try {
      this.#storage?.setItem(`terrace:scroll:${key}`, String(Math.round(position)));
    } catch {
      // Storage is full: this position is lost.
    }
  }

  read(key: string): number | null {
    const text = this.#storage?.getItem(`terrace:scroll:${key}`) ?? null;
    return text === null ? null : Number(text);
  }
}

/** For how long content may still arrive above a restored position. */
const PATIENCE_MS = 3_000;

/** Scrolls to a position as soon as the page is that long. Gives up when the reader moves. Returns what ends it. */
export function restoreScroll(position: number): () => void {
  const observer = new ResizeObserver(() => attempt());
  const timer = setTimeout(() => stop(), PATIENCE_MS);
  const moves = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;

  function stop(): void {
    observer.disconnect();
    clearTimeout(timer);
    for (const move of moves) removeEventListener(move, stop);
  }

  function attempt(): void {
    scrollTo(0, position);
    if (Math.abs(scrollY - position) < 2) stop();
  }

  for (const move of moves) addEventListener(move, stop, { passive: true });
  observer.observe(document.body);
  attempt();
  return stop;
}
