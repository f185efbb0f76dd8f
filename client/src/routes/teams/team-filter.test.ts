import { expect, test } from 'vitest';
import type { Team } from '$lib/api/types';
import { teamsNamed } from './team-filter';

const team = (name: string, shortName: string): Team => ({
  id: name,
  key: name,
  name,
  shortName,
  leagueId: '',
  colors: [],
  crestUrl: null,
  followerCount: 0,
});

const teams = [
  team('Deportivo Alavés', 'Alavés'),
  team('New York Liberty', 'Liberty'),
  team('Paris Saint-Germain', 'PSG'),
];

test.each([
  ['', 3],
  ['alaves', 1],
  ['ALAVÉS', 1],
  ['lib new', 1],
  ['germain', 1],
  ['psg', 1],
  ['york paris', 0],
  ['iberty', 0],
])('%s finds %i', (query, found) => {
  expect(teamsNamed(teams, query)).toHaveLength(found);
});
