import { expect, test } from 'vitest';
import { Refused, Unreachable } from '../api/errors';
import { agoIn } from './ago';
import { de } from './de';
import { deMore } from './de-more';
import { dePages } from './de-pages';
import { en } from './en';
import { enMore } from './en-more';
import { enPages } from './en-pages';
import { decimalIn } from './figures';
import { Texts, preferredLanguage } from './texts.svelte';

const now = new Date('2026-11-23T12:00:00Z');

test.each([
  ['2026-11-23T12:00:05Z', 'now'],
  ['2026-11-23T11:59:30Z', 'now'],
  ['2026-11-23T11:56:00Z', '4 min. ago'],
  ['2026-11-23T09:10:00Z', '2 hr. ago'],
  ['2026-11-22T11:00:00Z', 'yesterday'],
  ['2026-11-10T11:00:00Z', 'Nov 10'],
  ['2025-11-10T11:00:00Z', 'Nov 10, 2025'],
])('%s reads %s', (date, expected) => {
  expect(agoIn('en', new Date(date), now)).toBe(expected);
});

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr', 'en-GB'], 'en'],
  [['fr'], 'en'],
  [[], 'en'],
])('%j leads to %s', (languages, expected) => {
  expect(preferredLanguage(languages)).toBe(expected);
});

test('the newest wish for a language wins', async () => {
  const texts = new Texts();
  await Promise.all([texts.use('de'), texts.use('en')]);
  expect(texts.t).toBe(en);
  await texts.use('de');
  expect(texts.t).toBe(de);
  expect(texts.number(1240)).toBe('1.240');
});

test('further texts follow the language, also while it changes', async () => {
  const texts = new Texts();
  expect(() => texts.more).toThrow();
  await texts.load('pages');
  expect(() => texts.more).toThrow();
  const loaded = texts.load('pages', 'more');
  await Promise.all([loaded, texts.use('de')]);
  expect([texts.pages, texts.more]).toEqual([dePages, deMore]);
  await texts.use('en');
  expect([texts.pages, texts.more]).toEqual([enPages, enMore]);
});

test('a failure is said in words of ours', () => {
  const texts = new Texts({ pages: enPages });
  const refused = (code: string) =>
    new Refused({ code, requestId: 'r-7', status: 400, title: '', detail: '', type: '', instance: '' });
  expect(texts.failure(refused('username_taken'))).toBe(enPages.failure.username_taken);
  expect(texts.failure(refused('not_found'))).toBe(en.failure.not_found);
  expect(texts.failure(refused('unknown'))).toContain('r-7');
  expect(texts.failure(refused('never_heard_of'))).toContain('r-7');
  expect(texts.failure(new Unreachable('gone'))).toBe(en.failure.unreachable);
});

test('a time of another day has its date', () => {
  const texts = new Texts();
  const [then, now] = [new Date(2026, 10, 22, 9, 5), new Date(2026, 10, 23, 9, 0)];
  expect(texts.moment(then, then)).toBe(texts.time(then));
  expect(texts.moment(then, now)).toBe(texts.dateTime(then));
});

test('a decimal number keeps all its places, and a rate is exact', async () => {
  const texts = new Texts();
  await texts.use('de');
  expect(decimalIn('de', '123456789012345678901.000000000000000000000001')).toBe(
    '123.456.789.012.345.678.901,000000000000000000000001',
  );
  expect(decimalIn('de', '0')).toBe('0');
  expect(decimalIn('de', 'much')).toBe('much');
  expect(texts.rate(1025)).toBe(`10,25${'\u00a0'}%`);
});

test('numbers and times are written as in the region of the browser', async () => {
  const texts = new Texts({}, ['de-AT', 'en-GB', 'en']);
  const date = new Date(2026, 10, 24, 15, 5);
  expect(texts.dateTime(date)).toBe('24 Nov 2026, 15:05');
  await texts.use('de');
  expect(texts.number(12_400)).toBe(new Intl.NumberFormat('de-AT').format(12_400));
  expect(new Texts().date(date)).toBe('Nov 24, 2026');
});
