import { createContext, untrack } from 'svelte';
import { Unreachable, type Failure } from '../api/errors';
import { agoIn } from './ago';
import { en, type Catalogue } from './en';
import type { Entry } from './en-entry';
import type { Fans } from './en-fans';
import type { Home } from './en-home';
import type { More } from './en-more';
import type { Orders } from './en-orders';
import type { Own } from './en-own';
import type { Pages } from './en-pages';
import type { Products } from './en-products';
import type { Shop } from './en-shop';
import type { Trivia } from './en-trivia';
import type { Wheels } from './en-wheels';

export type Language = 'en' | 'de';

const CATALOGUES: Record<Language, () => Promise<Catalogue>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de')).de,
};

/** Texts that are not there from the start. */
interface Parts {
  pages: Pages;
  entry: Entry;
  fans: Fans;
  more: More;
  shop: Shop;
  products: Products;
  orders: Orders;
  home: Home;
  own: Own;
  wheels: Wheels;
  trivia: Trivia;
}

export type Part = keyof Parts;

const PARTS: { [Name in Part]: Record<Language, () => Promise<{ default: Parts[Name] }>> } = {
  pages: {
    en: () => import('./en-pages'),
    de: () => import('./de-pages'),
  },
  entry: {
    en: () => import('./en-entry'),
    de: () => import('./de-entry'),
  },
  fans: {
    en: () => import('./en-fans'),
    de: () => import('./de-fans'),
  },
  more: {
    en: () => import('./en-more'),
    de: () => import('./de-more'),
  },
  shop: {
    en: () => import('./en-shop'),
    de: () => import('./de-shop'),
  },
  products: {
    en: () => import('./en-products'),
    de: () => import('./de-products'),
  },
  orders: {
    en: () => import('./en-orders'),
    de: () => import('./de-orders'),
  },
  home: {
    en: () => import('./en-home'),
    de: () => import('./de-home'),
  },
  own: {
    en: () => import('./en-own'),
    de: () => import('./de-own'),
  },
  wheels: {
    en: () => import('./en-wheels'),
    de: () => import('./de-wheels'),
  },
  trivia: {
    en: () => import('./en-trivia'),
    de: () => import('./de-trivia'),
  },
};

async function readParts(names: Iterable<Part>, language: Language): Promise<Partial<Parts>> {
  const read = [...names].map(async (name) => ({ [name]: (await PARTS[name][language]()).default }));
  const parts: Partial<Parts> = {};
  for (const part of await Promise.all(read)) Object.assign(parts, part);
  return parts;
}

/** The language of the client that fits the browser's best. */
export function preferredLanguage(languages: readonly string[]): Language {
  for (const language of languages) {
    const [base] = language.split('-');
    if (base === 'en' || base === 'de') return base;
  }
  return 'en';
}

/** The texts in the chosen language, and numbers and times as the reader's region writes them. */
export class Texts {
  #catalogue = $state.raw<Catalogue>(en);
  #language = $state<Language>('en');
  #wanted: Language = 'en';
  #parts = $state.raw<Partial<Parts>>({});
  readonly #wantedParts: Set<Part>;
  readonly #languages: readonly string[];

  /** `languages` are those of the browser, which name regions too. */
  constructor(parts: Partial<Parts> = {}, languages: readonly string[] = []) {
    this.#languages = languages;
    this.#parts = parts;
    this.#wantedParts = new Set(Object.keys(parts) as Part[]);
  }

  get t(): Catalogue {
    return this.#catalogue;
  }

  /** The texts of all pages but the room. The router loads them before such a page. */
  get pages(): Pages {
    return loaded(this.#parts.pages);
  }

  /** The texts of signing in and up, and of the choice of a club, loaded likewise. */
  get entry(): Entry {
    return loaded(this.#parts.entry);
  }

  /** The texts of fans, of what they write and of the search, loaded likewise. */
  get fans(): Fans {
    return loaded(this.#parts.fans);
  }

  /** The texts of the tables, of what fans earn and own, and of the settings, loaded likewise. */
  get more(): More {
    return loaded(this.#parts.more);
  }

  /** The texts of the shop, loaded likewise. */
  get shop(): Shop {
    return loaded(this.#parts.shop);
  }

  /** The texts of the pages of products, loaded likewise. */
  get products(): Products {
    return loaded(this.#parts.products);
  }

  /** The texts of orders, loaded likewise. */
  get orders(): Orders {
    return loaded(this.#parts.orders);
  }

  /** The texts of the start page and of notifications, loaded likewise. */
  get home(): Home {
    return loaded(this.#parts.home);
  }

  /** The texts of statements, wallets and single cards, loaded likewise. */
  get own(): Own {
    return loaded(this.#parts.own);
  }

  /** The texts of wheels, loaded likewise. */
  get wheels(): Wheels {
    return loaded(this.#parts.wheels);
  }

  /** The texts of rounds of trivia, loaded likewise. */
  get trivia(): Trivia {
    return loaded(this.#parts.trivia);
  }

  get language(): Language {
    return this.#language;
  }

  /** Changes the language once its texts are loaded; the newest wish wins. */
  async use(language: Language): Promise<void> {
    this.#wanted = language;
    const [catalogue, parts] = await Promise.all([
      CATALOGUES[language](),
      readParts(this.#wantedParts, language),
    ]);
    if (this.#wanted !== language) return;
    this.#catalogue = catalogue;
    this.#parts = { ...this.#parts, ...parts };
    this.#language = language;
  }

  /** Loads texts unless they are there. */
  async load(...names: Part[]): Promise<void> {
    for (const name of names) this.#wantedParts.add(name);
    // Who asks in an effect or a template does not ask again when they are there.
    const missing = untrack(() => new Set(names.filter((name) => !this.#parts[name])));
    const language = this.#wanted;
    const parts = await readParts(missing, language);
    if (this.#wanted !== language) return this.load(...names);
    this.#parts = { ...this.#parts, ...parts };
  }

  /** The variant of the language that the browser asks for. */
  get locale(): string {
    return this.#languages.find((name) => name.split('-')[0] === this.#language) ?? this.#language;
  }

  number(value: number): string {
    return new Intl.NumberFormat(this.locale).format(value);
  }

  time(date: Date): string {
    return new Intl.DateTimeFormat(this.locale, { hour: '2-digit', minute: '2-digit' }).format(date);
  }

  month(date: Date): string {
    return new Intl.DateTimeFormat(this.locale, { month: 'long', year: 'numeric' }).format(date);
  }

  dateTime(date: Date): string {
    return new Intl.DateTimeFormat(this.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
  }

  /** The time of today, and with its date that of another day. */
  moment(date: Date, now: Date = new Date()): string {
    return date.toDateString() === now.toDateString() ? this.time(date) : this.dateTime(date);
  }

  date(date: Date): string {
    return new Intl.DateTimeFormat(this.locale, { dateStyle: 'medium' }).format(date);
  }

  /** An amount with its sign, as a history shows it. */
  change(value: number): string {
    return new Intl.NumberFormat(this.locale, { signDisplay: 'exceptZero' }).format(value);
  }

  /** A share of one. */
  percent(value: number): string {
    const options = { style: 'percent', maximumSignificantDigits: 3 } as const;
    return new Intl.NumberFormat(this.locale, options).format(value);
  }

  /** A rate in hundredths of a percent, exactly. */
  rate(basisPoints: number): string {
    const options = { style: 'percent', maximumFractionDigits: 2 } as const;
    return new Intl.NumberFormat(this.locale, options).format(basisPoints / 10_000);
  }

  /** Money in minor units. */
  money(amount: number, currency: string, signDisplay: 'auto' | 'exceptZero' = 'auto'): string {
    const format = new Intl.NumberFormat(this.locale, { style: 'currency', currency, signDisplay });
    return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
  }

  list(words: readonly string[]): string {
    return new Intl.ListFormat(this.locale).format(words);
  }

  ago(date: Date, now: Date): string {
    return agoIn(this.locale, date, now);
  }

  /** Why a request failed, in words; never the service's untranslated detail. */
  failure(failure: Failure): string {
    const { unreachable, unknown } = this.t.failure;
    if (failure instanceof Unreachable) return unreachable;
    return this.refusal(failure.code) ?? unknown(failure.problem.requestId);
  }

  /** What a refusal with this code means, if there is a text for it. */
  refusal(code: string): string | null {
    const known: Record<string, unknown> = {
      ...this.#parts.pages?.failure,
      ...this.#parts.shop?.failure,
      ...this.#parts.own?.failure,
      ...this.t.failure,
    };
    const text = known[code];
    return typeof text === 'string' ? text : null;
  }
}

function loaded<Texts>(texts: Texts | undefined): Texts {
  if (!texts) throw new Error('these texts are not loaded');
  return texts;
}

export const [useTexts, setTexts] = createContext<Texts>();
