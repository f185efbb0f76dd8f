/** Up to two letters that stand for a name. */
export function initials(name: string, language: string): string {
  const words = name.split(/[\s_.-]+/u).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const letters = words.map((word) => [...word][0] ?? '');
  const [first = '?'] = letters;
  const last = letters.length > 1 ? (letters.at(-1) ?? '') : '';
  return (first + last).toLocaleUpperCase(language);
}

export const PRINTS = 6;

/** Which of the drawings behind the initials a name gets: always the same. */
export function printOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum % PRINTS;
}
