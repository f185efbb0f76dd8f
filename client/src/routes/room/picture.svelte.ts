/** What the service accepts. */
export const TYPES = ['image/jpeg', 'image/png', 'image/webp'];
export const MOST_BYTES = 5 * 1024 * 1024;
const MOST_SIDE = 10_000;
const MOST_PIXELS = 25_000_000;
export const LONGEST_ALT = 300;

type PictureProblem = 'type' | 'size' | 'pixels' | 'broken';

interface Size {
  width: number;
  height: number;
}

/** Why the service would refuse a picture, as far as the browser can tell; null if it would not. */
export async function problemOf(
  file: File,
  measure: (file: File) => Promise<Size | null>,
): Promise<PictureProblem | null> {
  if (!TYPES.includes(file.type)) return 'type';
  if (file.size > MOST_BYTES) return 'size';
  const size = await measure(file);
  if (!size) return 'broken';
  const isLarge = Math.max(size.width, size.height) > MOST_SIDE || size.width * size.height > MOST_PIXELS;
  return isLarge ? 'pixels' : null;
}

/** The size of a picture; null if it is none. */
async function measured(file: File): Promise<Size | null> {
  const url = URL.createObjectURL(file);
  const image = new Image();
  try {
    image.src = url;
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    // The browser can't read it, and the service reads no more kinds than a browser.
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The picture that goes with a text that is being written. */
export class DraftPicture {
  #file = $state.raw<File | null>(null);
  #preview = $state<string | null>(null);
  #problem = $state.raw<{ kind: PictureProblem; file: File } | null>(null);
  #alt = $state('');

  get preview(): string | null {
    return this.#preview;
  }

  /** Whether there is a picture, or a reason why there is none. */
  get isShown(): boolean {
    return this.#preview !== null || this.#problem !== null;
  }

  get problem(): { kind: PictureProblem; file: File } | null {
    return this.#problem;
  }

  get alt(): string {
    return this.#alt;
  }

  set alt(alt: string) {
    this.#alt = alt;
  }

  /** What is to be sent, if there is something. */
  get value(): { picture?: { file: File; alt: string } } {
    return this.#file ? { picture: { file: this.#file, alt: this.#alt.trim() } } : {};
  }

  /** Takes a file if the service will. */
  async choose(file: File): Promise<void> {
    this.clear();
    const kind = await problemOf(file, measured);
    if (kind) {
      this.#problem = { kind, file };
      return;
    }
    this.#file = file;
    this.#preview = URL.createObjectURL(file);
  }

  clear(): void {
    if (this.#preview) URL.revokeObjectURL(this.#preview);
    this.#file = null;
    this.#preview = null;
    this.#problem = null;
    this.#alt = '';
  }
}
