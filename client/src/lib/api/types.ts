import type { components } from './schema';

type Schemas = components['schemas'];

export type AlbumEntry = Schemas['AlbumEntry'];
export type Comment = Schemas['Comment'];
export type CompletedQuest = Schemas['CompletedQuest'];
export type VisitResult = Schemas['VisitResult'];
export type VisitStatus = Schemas['VisitStatus'];
export type FollowingList = Schemas['FollowingList'];
export type LeaderboardEntry = Schemas['LeaderboardEntry'];
export type LeaderboardPage = Schemas['LeaderboardPage'];
export type OpenResult = Schemas['OpenResult'];
export type OwnProfile = Schemas['OwnProfile'];
export type Pack = Schemas['Pack'];
export type PackPrice = Schemas['PackPrice'];
export type PointsEntry = Schemas['PointsEntry'];
export type Mention = Schemas['Mention'];
export type Post = Schemas['Post'];
export type PostImage = Schemas['PostImage'];
export type PostList = Schemas['PostList'];
export type Proof = Schemas['Proof'];
export type Purchase = Schemas['Purchase'];
export type Quest = Schemas['Quest'];
export type QuestStep = Schemas['QuestStep'];
export type Rarity = Schemas['Rarity'];
export type SessionOfDevice = Schemas['Session'];
export type Season = Schemas['Season'];
export type PublicProfile = Schemas['PublicProfile'];
export type Recommended = Schemas['Recommended'];
export type Team = Schemas['Team'];
export type User = Schemas['User'];
export type UserPack = Schemas['UserPack'];
export type WalletEntry = Schemas['WalletEntry'];

/** The kinds of checks that this client knows a place for; the service may have more. */
export type StepCheckKind =
  | 'choose_favorite_team'
  | 'upload_profile_picture'
  | 'complete_profile'
  | 'join_leaderboard'
  | 'points_threshold'
  | 'rank_threshold'
  | 'follow_user'
  | 'get_followers';
