import type { Mention } from '$lib/api/types';

/** A part of a text: plain, a fan who is mentioned, or a topic. */
type Segment =
  | { kind: 'text'; text: string }
  | { kind: 'mention'; text: string; username: string }
  | { kind: 'tag'; text: string; tag: string };

interface Found {
  start: number;
  end: number;
  segment: Segment;
}

/** A word may hold several topics, none of them inside of another word, of an address, or after what it belongs to. */
const TAG = /(?<!\u200c|\u200d|[\p{L}\p{M}\p{N}_#＃﹟/&=?@])[#＃﹟]((?:[\p{L}\p{M}\p{N}_]|\u200c|\u200d)+)/gu;
const JOINERS = /\u200c|\u200d/gu;
const LONGEST_TAG = 50;
const MOST_TAGS = 5;

/** The parts of a text as the service reads it. */
export function segments(body: string, mentions: readonly Mention[]): Segment[] {
  const found = [...mentionsIn(body, mentions), ...tagsIn(body)].sort(
    (one, other) => one.start - other.start,
  );
  const parts: Segment[] = [];
  let end = 0;
  for (const part of found) {
    if (part.start < end) continue;
    if (part.start > end) parts.push({ kind: 'text', text: body.slice(end, part.start) });
    parts.push(part.segment);
    ({ end } = part);
  }
  if (end < body.length) parts.push({ kind: 'text', text: body.slice(end) });
  return parts;
}

/** The service counts characters, a string of the browser counts UTF-16 units. */
function mentionsIn(body: string, mentions: readonly Mention[]): Found[] {
  if (mentions.length === 0) return [];
  const letters = [...body];
  const unit = (place: number): number => letters.slice(0, place).join('').length;
  return mentions.map(({ start, end, username }) => {
    const text = letters.slice(start, end).join('');
    return { start: unit(start), end: unit(end), segment: { kind: 'mention', text, username } };
  });
}

function tagsIn(body: string): Found[] {
  const found: Found[] = [];
  const known = new Set<string>();
  for (const word of body.matchAll(/\S+/gu)) {
    const [before = ''] = word[0].split('://');
    if (before.toLowerCase().startsWith('www.')) continue;
    for (const match of before.matchAll(TAG)) {
      const [text, run = ''] = match;
      const tag = run.replaceAll(JOINERS, '').normalize('NFKC').toLowerCase();
      if ([...tag].length > LONGEST_TAG || !/^\P{M}/u.test(tag) || !/\p{L}/u.test(tag)) continue;
      if (!known.has(tag) && known.size === MOST_TAGS) return found;
      known.add(tag);
      const start = word.index + match.index;
      found.push({ start, end: start + text.length, segment: { kind: 'tag', text, tag } });
    }
  }
  return found;
}
