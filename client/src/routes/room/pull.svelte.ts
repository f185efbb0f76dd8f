/** How far a pull goes until it refreshes, and how far what follows the finger moves at most, in pixels. */
export const FAR = 96;
const LONGEST = 144;
/** A finger that moves less has not chosen a direction. */
const SLACK = 8;

interface Point {
  x: number;
  y: number;
}

/**
 * A pull at the top of a page. It begins with one finger on a page that is not scrolled, and ends in a refresh only where
 * the finger lets go far enough below: neither a page that is flung to its top nor a pull that is taken back refreshes.
 */
export class Pull {
  #start: Point | null = null;
  #distance = $state(0);

  /** How far it goes, in pixels. */
  get distance(): number {
    return this.#distance;
  }

  get isFar(): boolean {
    return this.#distance >= FAR;
  }

  begin(fingers: readonly Point[], scrolled: number): void {
    const [first, ...others] = fingers;
    this.#start = first && others.length === 0 && scrolled <= 0 ? first : null;
    this.#distance = 0;
  }

  move(fingers: readonly Point[], scrolled: number): void {
    const [finger, ...others] = fingers;
    const start = this.#start;
    if (!start || !finger) return;
    const [x, y] = [finger.x - start.x, finger.y - start.y];
    const isUndecided = this.#distance === 0 && Math.hypot(x, y) < SLACK;
    if (isUndecided) return;
    // A gesture that scrolls, goes sideways or has more fingers is another one.
    const isOther = others.length > 0 || scrolled > 0 || (this.#distance === 0 && Math.abs(x) > y);
    if (isOther) this.cancel();
    else this.#distance = Math.min(Math.max(y, 0), LONGEST);
  }

  /** Ends it; whether it refreshes. */
  end(): boolean {
    const isFar = this.isFar;
    this.cancel();
    return isFar;
  }

  cancel(): void {
    this.#start = null;
    this.#distance = 0;
  }
}
