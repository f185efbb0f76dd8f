/** A place in a page: how far down it is, and which of the page's anchors stands where, since heights above change. */
interface Place {
  y: number;
  anchor: { name: string; offset: number } | null;
}

const ANCHORS = '[data-anchor]';

/** Where each entry of the history was scrolled to, kept over a reload. */
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

  save(key: string): void {
    try {
      this.#storage?.setItem(`terrace:scroll:${key}`, JSON.stringify(currentPlace()));
    } catch {
      // Storage is full: this position is lost.
    }
  }

  read(key: string): Place | null {
    const text = this.#storage?.getItem(`terrace:scroll:${key}`) ?? null;
    return text === null ? null : placeOf(text);
  }
}

/** The place that was kept; null for one that another version of the client kept in its own form. */
function placeOf(text: string): Place | null {
  try {
    const kept: unknown = JSON.parse(text);
    return isPlace(kept) ? kept : null;
  } catch {
    return null;
  }
}

function isPlace(kept: unknown): kept is Place {
  if (typeof kept !== 'object' || kept === null || !('y' in kept && 'anchor' in kept)) return false;
  const { y, anchor } = kept;
  if (typeof y !== 'number' || typeof anchor !== 'object') return false;
  if (anchor === null) return true;
  if (!('name' in anchor && 'offset' in anchor)) return false;
  return typeof anchor.name === 'string' && typeof anchor.offset === 'number';
}

/** The place that the reader sees: the first anchor whose end is on the screen holds it. */
function currentPlace(): Place {
  for (const element of document.querySelectorAll<HTMLElement>(ANCHORS)) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom <= 0) continue;
    const name = element.dataset['anchor'] ?? '';
    return { y: scrollY, anchor: scrollY > 0 ? { name, offset: top } : null };
  }
  return { y: scrollY, anchor: null };
}

/** For how long content may still arrive above a restored position. */
const PATIENCE_MS = 10_000;
/** For how many frames a place must stay where it is until it counts as reached. */
const STILL_FRAMES = 3;

/** Scrolls to a place as soon as it is there. Gives up when the reader moves. Returns what ends it. */
export function restoreScroll(place: Place | null): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const end = performance.now() + PATIENCE_MS;
  let still = 0;

  function attempt(): void {
    if (signal.aborted || performance.now() > end) return;
    still = Math.abs(scrollTowards(place)) < 1 ? still + 1 : 0;
    // Heights are estimated until a part of the page is drawn.
    if (still < STILL_FRAMES) requestAnimationFrame(attempt);
  }

  for (const move of ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const) {
    addEventListener(move, () => stop.abort(), { passive: true, signal });
  }
  attempt();
  return () => stop.abort();
}

/** Scrolls to a place and returns how far away from it the page was; not a number while the anchor is missing. */
function scrollTowards(place: Place | null): number {
  const { y, anchor } = place ?? { y: 0, anchor: null };
  const element = anchor && document.querySelector(`[data-anchor="${CSS.escape(anchor.name)}"]`);
  const distance = element ? element.getBoundingClientRect().top - anchor.offset : y - scrollY;
  if (distance !== 0) scrollBy(0, distance);
  return anchor && !element ? Number.NaN : distance;
}
