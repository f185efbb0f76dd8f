import { createContext } from 'svelte';

type Urgency = 'polite' | 'assertive';

interface Toast {
  id: number;
  text: string;
}

/** How long a toast stays. */
const SHOWN_MS = 5_000;
/** Makes a text differ from the same one before it, so that it is read again. */
const AGAIN = '\u200b';

/** What is said beside the page: to screen readers, and for a while on the screen. */
export class Announcer {
  #polite = $state('');
  #assertive = $state('');
  #toasts = $state.raw<Toast[]>([]);
  #last = 0;

  get polite(): string {
    return this.#polite;
  }

  get assertive(): string {
    return this.#assertive;
  }

  get toasts(): readonly Toast[] {
    return this.#toasts;
  }

  announce(text: string, urgency: Urgency = 'polite'): void {
    if (urgency === 'polite') this.#polite = this.#polite === text ? text + AGAIN : text;
    else this.#assertive = this.#assertive === text ? text + AGAIN : text;
  }

  /** Announces a text and shows it for a while. */
  toast(text: string, urgency: Urgency = 'polite'): void {
    this.announce(text, urgency);
    const toast = { id: ++this.#last, text };
    this.#toasts = [...this.#toasts.slice(-1), toast];
    setTimeout(() => this.dismiss(toast.id), SHOWN_MS);
  }

  dismiss(id: number): void {
    this.#toasts = this.#toasts.filter((toast) => toast.id !== id);
  }
}

export const [useAnnouncer, setAnnouncer] = createContext<Announcer>();
