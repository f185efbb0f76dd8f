import type { components } from './schema';

type Schemas = components['schemas'];

export type Comment = Schemas['Comment'];
export type Leaderboard = Schemas['Leaderboard'];
export type LeaderboardEntry = Schemas['LeaderboardEntry'];
export type LeaderboardPage = Schemas['LeaderboardPage'];
export type League = Schemas['League'];
export type OwnProfile = Schemas['OwnProfile'];
export type Post = Schemas['Post'];
export type PostList = Schemas['PostList'];
export type Team = Schemas['Team'];
export type TeamList = Schemas['TeamList'];
export type User = Schemas['User'];
