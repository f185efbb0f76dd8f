import type { BrowserContextOptions, Page } from 'playwright-core';
import { press, tabTo } from './keyboard';
import { carryOn } from './member';

type Name = string | RegExp;

/** How a fan uses a page. */
export interface Hand {
  /** The beginning of the names of tests. */
  readonly name: string;
  readonly options: BrowserContextOptions;
  /** Presses a button or follows a link. */
  press: (page: Page, name: Name) => Promise<void>;
  /** Writes into a field. */
  write: (page: Page, label: Name, text: string) => Promise<void>;
  /** Takes the second of some options, of which the first is chosen. */
  takeSecond: (page: Page, first: Name, second: Name) => Promise<void>;
  /** Chooses from a list. */
  choose: (page: Page, label: Name, option: string) => Promise<void>;
  /** Gives the first answer to a question that has just come. */
  answer: (page: Page) => Promise<void>;
  /** Closes what says that something was earned. */
  carryOn: (page: Page, title: Name) => Promise<void>;
}

/** Where there is no mouse, by Tab, Enter and the arrows. */
export const keyboard: Hand = {
  name: 'by keyboard alone',
  options: { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' },
  press,
  write: async (page, label, text) => {
    await tabTo(page, label);
    await page.keyboard.type(text);
  },
  takeSecond: async (page, first) => {
    await tabTo(page, first);
    await page.keyboard.press('ArrowRight');
  },
  choose: async (page, label, option) => {
    await tabTo(page, label);
    await page.keyboard.type(option);
  },
  answer: async (page) => {
    // The question has the focus: its first answer is the next stop.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  },
  carryOn: async (page, title) => {
    await page.getByRole('dialog', { name: title }).waitFor();
    await page.keyboard.press('Escape');
  },
};

/** On a phone, with the keys that it shows. */
export const touch: Hand = {
  name: 'by touch alone',
  options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, reducedMotion: 'reduce' },
  press: async (page, name) => {
    const named = { name, exact: true };
    await page.getByRole('button', named).or(page.getByRole('link', named)).first().tap();
  },
  write: async (page, label, text) => {
    await page.getByLabel(label, { exact: true }).tap();
    await page.keyboard.type(text);
  },
  takeSecond: async (page, _, second) => {
    await page.getByRole('radio', { name: second }).tap();
  },
  choose: async (page, label, option) => {
    await page.getByLabel(label).selectOption(option);
  },
  answer: async (page) => {
    await page.getByRole('list', { name: 'Answers' }).getByRole('button').first().tap();
  },
  carryOn,
};
