import { expect, test } from 'vitest';
import { enHome } from '$lib/i18n/en-home';
import { Texts } from '$lib/i18n/texts.svelte';
import { aRow, aUser } from './testing';
import { addressOf, iconOf, kindName, wordsOf } from './words';

const texts = new Texts({ home: enHome });
const [ben, cal, dee] = [aUser('Ben'), aUser('Cal'), aUser('Dee')];
const ofComment = { kind: 'comment', id: 'c', title: 'Never offside' };

test.each([
  [{}, 'Ben commented on your post'],
  [{ kind: 'follow', actors: [ben, cal], actorCount: 2 }, 'Ben and Cal followed you'],
  [
    { kind: 'reaction', actors: [ben, cal, dee], actorCount: 4 },
    'Ben, Cal, Dee, and 1 other fan reacted to your post',
  ],
  [
    { kind: 'reaction', actors: [ben, cal, dee], actorCount: 12, subject: ofComment },
    'Ben, Cal, Dee, and 9 other fans liked your comment',
  ],
  [{ kind: 'mention', subject: ofComment }, 'Ben mentioned you in a comment'],
  [{ kind: 'order', actors: [], actorCount: 0, text: 'Your order was sent' }, 'Your order was sent'],
  [{ kind: 'of_a_newer_service', actors: [], actorCount: 0, text: 'Something else' }, 'Something else'],
])('%o says %s', (more, expected) => {
  expect(wordsOf(aRow('1', more), texts).title).toBe(expected);
});

test('what it is about stands below what other fans did', () => {
  expect(wordsOf(aRow('1', { subject: ofComment }), texts).text).toBe('Never offside');
  expect(wordsOf(aRow('1', { kind: 'level', actors: [], actorCount: 0 }), texts).text).toBe('');
});

test('in German the sentence is made of its parts', async () => {
  const german = new Texts({ home: enHome });
  await german.use('de');
  const two = aRow('1', { kind: 'reply', actors: [ben, cal], actorCount: 2 });
  expect(wordsOf(two, german).title).toBe('Ben und Cal haben auf deinen Kommentar geantwortet');
  const season = { kind: 'season', id: 's', title: 'Herbst' };
  const over = aRow('1', { kind: 'season', actors: [], actorCount: 0, subject: season });
  expect(wordsOf(over, german).title).toBe('Neues von der Saison: Herbst');
});

test.each([
  [{}, '/posts/1'],
  [{ kind: 'follow' }, '/fans/Ben'],
  [{ kind: 'follow', actors: [ben, cal], actorCount: 2 }, '/fans/ada/followers'],
])('%o leads to %s', (more, expected) => {
  expect(addressOf(aRow('1', more), 'ada')).toBe(expected);
});

test('a kind that a newer service has is shown by its own name', () => {
  expect([kindName('follow', texts), iconOf('order')]).toEqual([enHome.kinds.follow, 'parcel']);
  expect([kindName('fan_art', texts), iconOf('fan_art')]).toEqual(['fan_art', 'bell']);
});
