import { createContext } from 'svelte';
import { Unreachable, type Failure } from '../api/errors';
import { agoIn } from './ago';
import { en, type Catalogue } from './en';

export type Language = 'en' | 'de';

const CATALOGUES: Record<Language, () => Promise<Catalogue>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de')).de,
};

/** The language of the client that fits the browser's best. */
export function preferredLanguage(languages: readonly string[]): Language {
  for (const language of languages) {
    const [base] = language.split('-');
    if (base === 'en' || base === 'de') return base;
  }
  return 'en';
}

/** The texts in the chosen language, and numbers and times as it writes them. */
export class Texts {
  #catalogue = $state.raw<Catalogue>(en);
  #language = $state<Language>('en');
  #wanted: Language = 'en';

  get t(): Catalogue {
    return this.#catalogue;
  }

  get language(): Language {
    return this.#language;
  }

  /** Changes the language once its texts are loaded; the newest wish wins. */
  async use(language: Language): Promise<void> {
    this.#wanted = language;
    const catalogue = await CATALOGUES[language]();
    if (this.#wanted !== language) return;
    this.#catalogue = catalogue;
    this.#language = language;
  }

  number(value: number): string {
    return new Intl.NumberFormat(this.#language).format(value);
  }

  time(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { hour: '2-digit', minute: '2-digit' }).format(date);
  }

  dateTime(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
  }

  /** The time of today, and with its date that of another day. */
  moment(date: Date, now: Date = new Date()): string {
    return date.toDateString() === now.toDateString() ? this.time(date) : this.dateTime(date);
  }

  ago(date: Date, now: Date): string {
    return agoIn(this.#language, date, now);
  }

  /** Why a request failed, in words; never the service's untranslated detail. */
  failure(failure: Failure): string {
    const texts = this.t.failure;
    if (failure instanceof Unreachable) return texts.unreachable;
    const known: Record<string, unknown> = texts;
    const text = known[failure.code];
    return typeof text === 'string' ? text : texts.unknown(failure.problem.requestId);
  }
}

export const [useTexts, setTexts] = createContext<Texts>();
