//! The sets of ports that commands and queries use.

use crate::content::{ContentRead, ContentWrite};
use crate::legacy::{LegacyMove, LegacyStaging, LegacyStagingWrite};
use crate::maintenance::{MaintenanceRead, MaintenanceWrite};
use crate::media::{MediaRead, MediaWrite};
use crate::minting::{MintingDelivery, MintingRead, MintingUpkeep, MintingWrite};
use crate::payments::{PaymentRead, PaymentWrite, SandboxWrite};
use crate::ports::{alias, for_commands, for_queries, ports, read_ports};
use crate::repair::{RepairRead, RepairWrite};
use crate::{
    Audit, BackfillRead, BackfillWrite, ConsumerWrite, EventRead, FollowImportWrite, IdempotencyRead,
    IdempotencyWrite, JobRead, JobWrite, LeaseRead, LeaseWrite, Ports, ReadPorts, SecretMarks, SweepRead,
    SweepWrite,
};
use terrace_identity::{
    AccountRead, AccountWrite, AuthorCard, CardRead, PresenceWrite, SessionRead, SessionWrite, Team,
    TeamRead, TeamWrite,
};
use terrace_kernel::EventLog;
use terrace_ledger::{LedgerAudit, LedgerRead, LedgerRepairWrite, LedgerWrite};
use terrace_packs::{CatalogueRead, CatalogueWrite, OpeningWrite, SaleRead, SaleWrite};
use terrace_quests::{FanLock, OwnQuestRead, QuestRead, QuestWrite, StandingsRead, StepBatch};
use terrace_scoring::{BoardRead, BoardWrite, PointsAudit, PointsRead, PointsRepair, PointsWrite};
use terrace_social::{
    AuthoredRead, CommentLikeWrite, CommentRead, CommentWrite, DismissalWrite, ErasureWrite, FeedRead,
    FollowGraphRead, GraphErasure, GraphRead, GraphWrite, MentionWrite, OwnGraphRead, PostListRead, PostRead,
    PostWrite, ReactionWrite, ReportDecisionWrite, ReportRead, ReportWrite, RoomBatch, SearchAudit,
    SearchRead, SearchWrite, SuggestionRead, TeamFollowRead, TeamFollowWrite, TopicWrite, TrendRead,
    TrendWrite,
};

read_ports! {
    /// An own profile: the account, its favourite team, its points and its balances.
    pub trait ProfileReadTx: AccountRead + TeamRead + PointsRead + LedgerRead
}

read_ports! {
    /// The export of everything that is stored about an account.
    pub trait ExportReadTx:
        AccountRead
        + SessionRead
        + IdempotencyRead
        + AuthoredRead
        + OwnGraphRead
        + PointsRead
        + PointsAudit
        + QuestRead
        + OwnQuestRead
        + LedgerRead
        + SaleRead
}

read_ports! {
    /// Posts and comments.
    pub trait RoomReadTx: PostRead<AuthorCard> + CommentRead<AuthorCard>
}

read_ports! {
    /// Feeds of posts.
    pub trait FeedReadTx: FeedRead<AuthorCard> + PostListRead<AuthorCard> + TeamRead + EventRead
}

read_ports! {
    /// Relationships between accounts.
    pub trait GraphReadTx: AccountRead + GraphRead<AuthorCard>
}

read_ports! {
    /// Posts of an account that is visible to the reader.
    pub trait PostsOfReadTx: FeedReadTx + GraphReadTx
}

read_ports! {
    /// Profiles that other users see, and whom an account follows.
    pub trait FollowingReadTx: GraphReadTx + TeamRead + TeamFollowRead<Team>
}

read_ports! {
    /// Profiles that other users see, with their achievements.
    pub trait PublicProfileReadTx: FollowingReadTx + QuestRead + PointsRead
}

read_ports! {
    /// Collectibles of a fan as other users see them.
    pub trait CollectionReadTx: GraphReadTx + SaleRead
}

read_ports! {
    /// Suggestions of accounts to follow.
    pub trait SuggestionReadTx: SuggestionRead<AuthorCard>
}

read_ports! {
    /// Topics and trending posts.
    pub trait TrendReadTx: TrendRead<AuthorCard>
}

read_ports! {
    /// Trending posts and accounts as a reader sees them.
    pub trait TrendingReadTx: TrendReadTx + AccountRead + TeamRead + TeamFollowRead<Team> + EventRead
}

read_ports! {
    /// Searches for fans, teams, posts and topics.
    pub trait SearchReadTx: SearchRead<AuthorCard, Team>
}

read_ports! {
    /// Leaderboards, with the names of their teams.
    pub trait BoardReadTx: BoardRead + TeamRead
}

read_ports! {
    /// Points and ranks, at a position of the event log.
    pub trait PointsReadTx: BoardRead + PointsRead + EventRead
}

read_ports! {
    /// Quests and achievements.
    pub trait QuestBookReadTx: QuestRead + ContentRead
}

read_ports! {
    /// Standings of fans in quests.
    pub trait StandingsReadTx: StandingsRead + PointsAudit
}

read_ports! {
    /// Subjects of events, and what a reader of a stream may see of them.
    pub trait StreamReadTx: RoomReadTx + PointsRead + EventRead + AccountRead + GraphRead<AuthorCard> + OwnGraphRead
}

read_ports! {
    /// Models that are kept in memory and follow the event log.
    pub trait LiveReadTx: EventRead + BoardRead + FollowGraphRead
}

read_ports! {
    /// Jobs and who runs them.
    pub trait JobReadTx: JobRead + LeaseRead
}

read_ports! {
    /// An overview of the service for operators.
    pub trait OverviewReadTx: AccountRead + EventRead + JobRead + MintingRead
}

read_ports! {
    /// Whether demonstration data, or any account, exists.
    pub trait DemoReadTx: AccountRead + Audit
}

read_ports! {
    /// Verification, repair and imports.
    pub trait OpsReadTx:
        MaintenanceRead
        + LeaseRead
        + Audit
        + SweepRead
        + RepairRead
        + LegacyStaging
        + LedgerAudit
        + PointsAudit
        + BoardReadTx
        + QuestRead
        + StandingsRead
        + SaleRead
        + MintingRead
        + BackfillRead
        + ContentRead
        + CatalogueRead
        + EventRead
        + ReportRead
        + SearchAudit
}

read_ports! {
    /// Every port that a query may use.
    pub trait ReadTx:
        ProfileReadTx
        + ExportReadTx
        + RoomReadTx
        + FeedReadTx
        + PostsOfReadTx
        + FollowingReadTx
        + PublicProfileReadTx
        + CollectionReadTx
        + SuggestionReadTx
        + TrendingReadTx
        + SearchReadTx
        + BoardReadTx
        + PointsReadTx
        + StandingsReadTx
        + QuestBookReadTx
        + StreamReadTx
        + LiveReadTx
        + JobReadTx
        + OverviewReadTx
        + DemoReadTx
        + OpsReadTx
        + CardRead
        + MediaRead
        + CatalogueRead
        + PaymentRead
}

ports! {
    /// Sessions of an account.
    pub trait SessionTx: SessionWrite + PresenceWrite
}

ports! {
    /// Sign-in, which returns the own profile.
    pub trait SignInTx: SessionTx + AccountWrite + ProfileReadTx
}

ports! {
    /// Registration: an account, its first session and its first quests.
    pub trait RegisterTx: SignInTx + ProgressTx + IdempotencyWrite
}

ports! {
    /// Passwords, roles and states of accounts.
    pub trait AccountTx: AccountWrite + SessionWrite + PointsWrite + EventLog
}

ports! {
    /// Changes of a profile, which may complete quests.
    pub trait ProfileTx: AccountWrite + ProfileReadTx + QuestTx
}

ports! {
    /// Profile pictures.
    pub trait PictureTx: AccountWrite + ProfileReadTx + MediaWrite + EventLog
}

ports! {
    /// Uploads.
    pub trait UploadTx: FanLock + MediaWrite
}

ports! {
    /// Deletion of an account and removal of its data.
    pub trait ErasureTx:
        AccountTx
        + SessionTx
        + ErasureWrite
        + GraphErasure
        + IdempotencyWrite
        + LedgerWrite
        + MediaWrite
        + QuestWrite
}

ports! {
    /// Posts, comments, reactions and likes.
    pub trait RoomTx:
        PostWrite<AuthorCard>
        + CommentWrite<AuthorCard>
        + CommentLikeWrite
        + MentionWrite
        + ReactionWrite
        + ReportWrite
        + RoomBatch
        + EventLog
}

ports! {
    /// New posts, with their topics and images.
    pub trait PostTx:
        PostWrite<AuthorCard> + RoomBatch + TopicWrite + MentionWrite + MediaWrite + TeamRead + EventLog
}

ports! {
    /// Follows and blocks between accounts.
    pub trait GraphTx: GraphReadTx + GraphWrite<AuthorCard> + EventLog
}

ports! {
    /// Follows of teams.
    pub trait TeamFollowTx: AccountRead + TeamFollowWrite + TeamRead + EventLog
}

ports! {
    /// Points, boards and seasons.
    pub trait BoardTx: BoardWrite + PointsWrite + PointsRead + TeamRead
}

ports! {
    /// Bulk records of points and repair of totals.
    pub trait PointsRepairTx: BoardRead + PointsRepair
}

ports! {
    /// The list of quests.
    pub trait QuestContentTx: QuestWrite + TeamRead
}

ports! {
    /// Progress in quests that awards nothing.
    pub trait ProgressTx: QuestWrite + EventLog
}

ports! {
    /// Progress in quests that awards points.
    pub trait QuestTx: ProgressTx + StepBatch + BoardTx
}

ports! {
    /// Daily visits, which award points and coins.
    pub trait VisitTx: QuestTx + LedgerWrite
}

ports! {
    /// Balances of coins and cash.
    pub trait BalanceTx: AccountWrite + LedgerWrite
}

ports! {
    /// The catalogue of packs and collectibles.
    pub trait CatalogueTx: CatalogueWrite + TeamRead
}

ports! {
    /// Sold copies of packs and their contents.
    pub trait CopyTx: SaleWrite + OpeningWrite
}

ports! {
    /// Opening of packs.
    pub trait PackTx: FanLock + CatalogueRead + CopyTx + MintingWrite
}

ports! {
    /// States of purchases and of their payments.
    pub trait PurchaseTx: SaleWrite + PaymentWrite + EventLog
}

ports! {
    /// Checkouts, whose URLs stored answers contain.
    pub trait CheckoutTx: PurchaseTx + IdempotencyWrite
}

ports! {
    /// Settlement of purchases in the ledger.
    pub trait SettlementTx: PurchaseTx + CopyTx + LedgerWrite
}

ports! {
    /// Purchases, payments and refunds of a fan.
    pub trait PaymentTx: FanLock + AccountWrite + CatalogueRead + SettlementTx
}

ports! {
    /// Jobs and their leases.
    pub trait JobTx: JobWrite + LeaseWrite
}

ports! {
    /// Demonstration data.
    pub trait DemoTx:
        SignInTx
        + AccountTx
        + TeamWrite
        + RoomTx
        + TopicWrite
        + GraphTx
        + TeamFollowTx
        + QuestContentTx
        + VisitTx
        + CatalogueTx
        + PackTx
        + PaymentTx
        + MediaWrite
        + SearchWrite
        + Audit
}

ports! {
    /// Maintenance, repair and imports.
    pub trait OpsTx:
        OpsReadTx
        + ErasureTx
        + RoomTx
        + GraphTx
        + TeamFollowTx
        + QuestTx
        + QuestContentTx
        + CatalogueTx
        + TeamWrite
        + ContentWrite
        + PackTx
        + LeaseWrite
        + MaintenanceWrite
        + SweepWrite
        + RepairWrite
        + BackfillWrite
        + FollowImportWrite
        + ReportDecisionWrite
        + LegacyStagingWrite
        + LegacyMove
        + LedgerRepairWrite
        + PointsRepairTx
        + MintingUpkeep
        + TopicWrite
        + SearchWrite
}

ports! {
    /// Every port that a command may use. The transaction is committed as a whole or not at all.
    pub trait Tx:
        ReadTx
        + SignInTx
        + RegisterTx
        + AccountTx
        + ProfileTx
        + PictureTx
        + UploadTx
        + ErasureTx
        + RoomTx
        + PostTx
        + GraphTx
        + TeamFollowTx
        + VisitTx
        + BalanceTx
        + CatalogueTx
        + PackTx
        + CheckoutTx
        + PaymentTx
        + JobTx
        + DemoTx
        + OpsTx
        + TrendWrite
        + ConsumerWrite
        + DismissalWrite
        + MintingDelivery
        + SandboxWrite
        + SecretMarks
}

for_commands! {
    AccountWrite, BackfillWrite, BoardWrite, ContentWrite, DismissalWrite, LeaseWrite, MediaWrite, MintingDelivery, MintingUpkeep, PointsRepair, SaleRead, SandboxWrite, SecretMarks, SessionWrite, TeamWrite, TrendWrite,
}

for_queries! {
    AccountRead, Audit, BackfillRead, BoardRead, CardRead, CatalogueRead, ContentRead, EventRead, JobRead, LedgerRead, MediaRead, MintingRead, PaymentRead, PointsAudit, PointsRead, QuestRead, SaleRead, SessionRead, SweepRead, TeamRead,
}
