import { expect, test } from 'vitest';
import { segments } from './segments';

const tags = (body: string): string[] =>
  segments(body, []).flatMap((part) => (part.kind === 'tag' ? [part.tag] : []));

test.each([
  ['What a save! #Matchday', ['matchday']],
  ['(#one), #two. "#three"!#four', ['one', 'two', 'three', 'four']],
  ['＃Goal', ['goal']],
  ['a#b ##c &#39; https://a.example/#d a.example/#e www.a.example#f', []],
  ['#1 #_ #1a', ['1a']],
  [`#${'x'.repeat(50)}`, ['x'.repeat(50)]],
  [`#${'x'.repeat(51)}`, []],
  ['#a #b #c #d #e #f', ['a', 'b', 'c', 'd', 'e']],
])('%j has the topics %j', (body, expected) => {
  expect(tags(body)).toEqual(expected);
});

test('a mention is found by its place in characters', () => {
  expect(segments('🎉 @Mia, look #up', [{ username: 'mia', start: 2, end: 6 }])).toEqual([
    { kind: 'text', text: '🎉 ' },
    { kind: 'mention', text: '@Mia', username: 'mia' },
    { kind: 'text', text: ', look ' },
    { kind: 'tag', text: '#up', tag: 'up' },
  ]);
});

test('a text without links is one part', () => {
  expect(segments('Up the terrace', [])).toEqual([{ kind: 'text', text: 'Up the terrace' }]);
  expect(segments('', [])).toEqual([]);
});
