import { createContext } from 'svelte';
import { Unreachable, type Failure } from '../api/errors';
import { agoIn } from './ago';
import { en, type Catalogue } from './en';
import type { More } from './en-more';

export type Language = 'en' | 'de';

const CATALOGUES: Record<Language, () => Promise<Catalogue>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de')).de,
};

const MORE: Record<Language, () => Promise<More>> = {
  en: async () => (await import('./en-more')).enMore,
  de: async () => (await import('./de-more')).deMore,
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
  #more = $state.raw<More | null>(null);
  #isMoreWanted: boolean;

  constructor(more: More | null = null) {
    this.#more = more;
    this.#isMoreWanted = more !== null;
  }

  get t(): Catalogue {
    return this.#catalogue;
  }

  /** The texts of the pages that are not among the first ones. The router loads them before such a page. */
  get more(): More {
    if (!this.#more) throw new Error('these texts are not loaded');
    return this.#more;
  }

  get language(): Language {
    return this.#language;
  }

  /** Changes the language once its texts are loaded; the newest wish wins. */
  async use(language: Language): Promise<void> {
    this.#wanted = language;
    const wanted = this.#isMoreWanted ? MORE[language]() : null;
    const [catalogue, more] = await Promise.all([CATALOGUES[language](), wanted]);
    if (this.#wanted !== language) return;
    this.#catalogue = catalogue;
    if (more) this.#more = more;
    this.#language = language;
  }

  async loadMore(): Promise<void> {
    this.#isMoreWanted = true;
    if (this.#more) return;
    const language = this.#wanted;
    const more = await MORE[language]();
    if (this.#wanted !== language) return this.loadMore();
    this.#more = more;
  }

  number(value: number): string {
    return new Intl.NumberFormat(this.#language).format(value);
  }

  time(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { hour: '2-digit', minute: '2-digit' }).format(date);
  }

  month(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { month: 'long', year: 'numeric' }).format(date);
  }

  dateTime(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
  }

  /** The time of today, and with its date that of another day. */
  moment(date: Date, now: Date = new Date()): string {
    return date.toDateString() === now.toDateString() ? this.time(date) : this.dateTime(date);
  }

  date(date: Date): string {
    return new Intl.DateTimeFormat(this.#language, { dateStyle: 'medium' }).format(date);
  }

  /** An amount with its sign, as a history shows it. */
  change(value: number): string {
    return new Intl.NumberFormat(this.#language, { signDisplay: 'exceptZero' }).format(value);
  }

  /** A share of one. */
  percent(value: number): string {
    const options = { style: 'percent', maximumSignificantDigits: 3 } as const;
    return new Intl.NumberFormat(this.#language, options).format(value);
  }

  /** Money in minor units. */
  money(amount: number, currency: string): string {
    const format = new Intl.NumberFormat(this.#language, { style: 'currency', currency });
    return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
  }

  list(words: readonly string[]): string {
    return new Intl.ListFormat(this.#language).format(words);
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
