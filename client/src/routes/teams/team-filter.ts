import type { Team } from '$lib/api/types';

/** A name without accents and case, as people type it. */
function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}

/** The teams whose name or short name has a word that begins with each word of the query. */
export function teamsNamed(teams: readonly Team[], query: string): Team[] {
  const wanted = plain(query).split(/\s+/u);
  return teams.filter(({ name, shortName }) => {
    const words = plain(`${name} ${shortName}`).split(/[\s.-]+/u);
    return wanted.every((part) => words.some((word) => word.startsWith(part)));
  });
}
