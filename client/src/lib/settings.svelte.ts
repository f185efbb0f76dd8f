import { createContext } from 'svelte';
import { preferredLanguage, type Language, type Texts } from './i18n/texts.svelte';
import { Persisted } from './persisted.svelte';

export const THEMES = ['system', 'light', 'dark'] as const;
export const MOTIONS = ['system', 'reduced'] as const;
export const LANGUAGES = ['system', 'en', 'de'] as const;

export const SAVINGS = ['system', 'on'] as const;
export const SCROLLINGS = ['system', 'button'] as const;

type Theme = (typeof THEMES)[number];
export type Motion = (typeof MOTIONS)[number];
type Saving = (typeof SAVINGS)[number];
type Scrolling = (typeof SCROLLINGS)[number];
type LanguageChoice = (typeof LANGUAGES)[number];

function chosen<Choice extends string>(choices: readonly Choice[], value: string | null): Choice | 'system' {
  return choices.find((choice) => choice === value) ?? 'system';
}

/** Not every browser says it. */
function deviceSavesData(): boolean {
  const connection: unknown = 'connection' in navigator ? navigator.connection : null;
  return typeof connection === 'object' && connection !== null && 'saveData' in connection
    ? connection.saveData === true
    : false;
}

/** What a person chose on this device, over what the device says. */
export class Settings {
  readonly #theme = new Persisted('theme');
  readonly #motion = new Persisted('motion');
  readonly #saving = new Persisted('saving');
  readonly #scrolling = new Persisted('scrolling');
  readonly #language = new Persisted('language');

  get theme(): Theme {
    return chosen(THEMES, this.#theme.value);
  }

  get motion(): Motion {
    return chosen(MOTIONS, this.#motion.value);
  }

  /** Whether lists read on by themselves or when asked to. */
  get scrolling(): Scrolling {
    return this.savesData ? 'button' : chosen(SCROLLINGS, this.#scrolling.value);
  }

  get saving(): Saving {
    return chosen(SAVINGS, this.#saving.value);
  }

  /** Whether to load no more than what is asked for. */
  get savesData(): boolean {
    return this.saving === 'on' || deviceSavesData();
  }

  get languageChoice(): LanguageChoice {
    return chosen(LANGUAGES, this.#language.value);
  }

  get language(): Language {
    const choice = this.languageChoice;
    return choice === 'system' ? preferredLanguage(navigator.languages) : choice;
  }

  setTheme(theme: Theme): void {
    this.#theme.set(theme === 'system' ? null : theme);
  }

  setMotion(motion: Motion): void {
    this.#motion.set(motion === 'system' ? null : motion);
  }

  setScrolling(scrolling: Scrolling): void {
    this.#scrolling.set(scrolling === 'system' ? null : scrolling);
  }

  setSaving(saving: Saving): void {
    this.#saving.set(saving === 'system' ? null : saving);
  }

  setLanguage(language: LanguageChoice): void {
    this.#language.set(language === 'system' ? null : language);
  }

  /** Shows the choices on the document. Runs in an effect, which repeats it after a change. */
  apply(root: HTMLElement, texts: Texts): void {
    root.dataset['scheme'] = this.theme;
    root.dataset['motion'] = this.motion;
    root.lang = this.language;
    void texts.use(this.language);
  }
}

export const [useSettings, setSettings] = createContext<Settings>();
