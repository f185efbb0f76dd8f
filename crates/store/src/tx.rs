//! The sets of ports that commands and queries use.

use crate::content::{ContentRead, ContentWrite};
use crate::dashboard::DashboardRead;
use crate::grants::{GrantRead, GrantWrite};
use crate::legacy::{LegacyMove, LegacyStaging, LegacyStagingWrite};
use crate::maintenance::{MaintenanceRead, MaintenanceWrite};
use crate::media::{MediaRead, MediaWrite};
use crate::minting::{MintReportWrite, MintingDelivery, MintingRead, MintingUpkeep, MintingWrite};
use crate::operator_report::OperatorReportRead;
use crate::payments::{PaymentCount, PaymentRead, PaymentWrite, SandboxWrite};
use crate::ports::{alias, for_commands, for_queries, ports, read_ports};
use crate::repair::{RepairRead, RepairWrite};
use crate::{
    Audit, BackfillRead, BackfillWrite, ConsumerWrite, EventRead, FollowImportWrite, IdempotencyRead,
    IdempotencyWrite, JobRead, JobWrite, LeaseRead, LeaseWrite, Ports, ReadPorts, SecretMarks,
    ServerClockRead, SweepRead, SweepWrite,
};
use terrace_games::{TriviaRead, TriviaWrite, WheelRead, WheelWrite};
use terrace_identity::{
    AccountRead, AccountWrite, AuthorCard, CardRead, PresenceWrite, PushQueue, PushRead, PushWrite,
    SessionRead, SessionWrite, Team, TeamRead, TeamWrite,
};
use terrace_kernel::EventLog;
use terrace_ledger::{
    LedgerAudit, LedgerBatch, LedgerRead, LedgerRepairWrite, LedgerWrite, WalletRead, WalletRepair,
    WalletWrite,
};
use terrace_packs::{CatalogueRead, CatalogueWrite, OpeningWrite, PackBatch, SaleRead, SaleWrite};
use terrace_quests::{FanLock, OwnQuestRead, QuestBatch, QuestRead, QuestWrite, StandingsRead};
use terrace_rewards::{ClaimRead, ClaimWrite, RewardContentWrite, RewardRead, TillRead, TillWrite};
use terrace_scoring::{BoardRead, BoardWrite, PointsAudit, PointsRead, PointsRepair, PointsWrite};
use terrace_shop::{CartRead, CartWrite, OrderRead, OrderWrite, ProductRead, ProductWrite, StockWrite};
use terrace_social::notifications::{NotificationRead, NotificationWrite};
use terrace_social::{
    AuthoredRead, CommentLikeWrite, CommentRead, CommentWrite, DismissalWrite, ErasureWrite, FeedRead,
    FollowGraphRead, GraphErasure, GraphRead, GraphWrite, MentionWrite, OwnGraphRead, PostListRead, PostRead,
    PostTextRead, PostWrite, ReactionWrite, ReportDecisionWrite, ReportRead, ReportWrite, RoomBatch,
    SearchAudit, SearchRead, SearchWrite, SuggestionRead, TeamFollowRead, TeamFollowWrite, TopicWrite,
    TrendRead, TrendWrite,
};

read_ports! {
    /// An own profile: the account, its favourite team, its points, its balances, and the number of unread notifications.
    pub trait ProfileReadTx: AccountRead + TeamRead + PointsRead + LedgerRead + NotificationRead
}

read_ports! {
    /// The export of everything that is stored about an account.
    pub trait ExportReadTx:
        AccountRead
        + SessionRead
        + PushRead
        + IdempotencyRead
        + AuthoredRead
        + OwnGraphRead
        + PointsRead
        + PointsAudit
        + QuestRead
        + OwnQuestRead
        + BalanceReadTx
        + SaleRead
        + CartRead
        + OrderReadTx
        + NotificationRead
        + ClaimRead
        + WheelRead
        + TriviaRead
        + GrantRead
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
    /// What only one reader sees of a feed.
    pub trait OwnFeedReadTx: GraphReadTx + AuthoredRead
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
    /// Orders with their payments.
    pub trait OrderReadTx: OrderRead + PaymentRead
}

read_ports! {
    /// Balances, with what orders hold of them, and wallets.
    pub trait BalanceReadTx: LedgerRead + OrderRead + WalletRead
}

read_ports! {
    /// The cart of a fan at its current prices.
    pub trait CartReadTx: CartRead + OrderRead + LedgerRead
}

read_ports! {
    /// What claims of rewards depend on.
    pub trait RewardReadTx:
        ClaimRead + AccountRead + QuestRead + LedgerRead + PointsRead + BoardRead + CatalogueRead
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
    /// Wheels, and the local dates of fans.
    pub trait WheelReadTx: WheelRead + QuestRead
}

read_ports! {
    /// Rounds of trivia, and the fans who play them as a reader sees them.
    pub trait TriviaReadTx: TriviaRead + CardRead + GraphReadTx + EventRead
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
    /// The dashboard of a fan.
    pub trait DashboardReadTx: PointsReadTx + DashboardRead
}

read_ports! {
    /// Standings of fans in quests.
    pub trait StandingsReadTx: StandingsRead + PointsAudit
}

read_ports! {
    /// Notifications, and what they show.
    pub trait NotificationReadTx:
        NotificationRead + CardRead + RoomReadTx + GraphReadTx + BoardReadTx + EventRead + TriviaRead
}

read_ports! {
    /// Subjects of events, and what a reader of a stream may see of them.
    pub trait StreamReadTx: NotificationReadTx + PointsRead + OwnGraphRead + TriviaRead
}

read_ports! {
    /// Models that are kept in memory and follow the event log.
    pub trait LiveReadTx: EventRead + BoardRead + FollowGraphRead + PostTextRead
}

read_ports! {
    /// Jobs and who runs them.
    pub trait JobReadTx: JobRead + LeaseRead
}

read_ports! {
    /// An overview of the service for operators.
    pub trait OverviewReadTx: AccountRead + EventRead + JobRead + MintingRead + PushRead + WalletRead
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
        + ProductRead
        + RewardRead
        + EventRead
        + ReportRead
        + SearchAudit
        + WalletRead
        + OperatorReportRead
        + WheelRead
        + TriviaRead
}

read_ports! {
    /// Every port that a query may use.
    pub trait ReadTx:
        ProfileReadTx
        + ExportReadTx
        + RoomReadTx
        + FeedReadTx
        + PostsOfReadTx
        + OwnFeedReadTx
        + FollowingReadTx
        + PublicProfileReadTx
        + CollectionReadTx
        + SuggestionReadTx
        + TrendingReadTx
        + SearchReadTx
        + BoardReadTx
        + PointsReadTx
        + DashboardReadTx
        + StandingsReadTx
        + QuestBookReadTx
        + StreamReadTx
        + LiveReadTx
        + JobReadTx
        + ServerClockRead
        + OverviewReadTx
        + DemoReadTx
        + OpsReadTx
        + CardRead
        + MediaRead
        + CatalogueRead
        + OrderReadTx
        + ProductRead
        + CartReadTx
        + PaymentCount
        + BalanceReadTx
        + NotificationReadTx
        + RewardReadTx
        + TillRead
        + WheelReadTx
        + TriviaReadTx
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
        + CartWrite
        + OrderWrite
        + WalletWrite
        + NotificationWrite
        + PushWrite
        + ClaimWrite
        + WheelWrite
        + TriviaWrite
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
    pub trait QuestTx: ProgressTx + QuestBatch + BoardTx
}

ports! {
    /// Transfers, of which fans are notified.
    pub trait TransferTx: LedgerWrite + LedgerBatch + EventLog
}

ports! {
    /// Daily visits, which award points and coins.
    pub trait VisitTx: QuestTx + TransferTx
}

ports! {
    /// Balances of coins and cash.
    pub trait BalanceTx: AccountWrite + TransferTx
}

ports! {
    /// Wallets of fans.
    pub trait WalletTx: FanLock + WalletWrite + EventLog
}

ports! {
    /// Notifications that follow events.
    pub trait NotificationTx:
        NotificationWrite
        + PushQueue
        + NotificationReadTx
        + RoomBatch
        + PointsRead
        + ContentRead
        + SaleRead
        + EventLog
}

ports! {
    /// The first hundred of boards, and who left them.
    pub trait FirstHundredTx: NotificationWrite + BoardRead + EventLog
}

ports! {
    /// Streaks of daily visits, and warnings of their end.
    pub trait StreakTx: NotificationWrite + StandingsRead + EventLog
}

ports! {
    /// Notifications of a fan, and which of them were read.
    pub trait InboxTx: NotificationWrite + EventLog
}

ports! {
    /// The catalogue of packs and collectibles.
    pub trait CatalogueTx: CatalogueWrite + TeamRead
}

ports! {
    /// The shop as content describes it.
    pub trait ShopContentTx: ProductWrite + CatalogueRead + TeamRead
}

ports! {
    /// Rewards as content describes them.
    pub trait RewardContentTx: RewardContentWrite + QuestRead + CatalogueRead + ProductRead
}

ports! {
    /// Claims of rewards.
    pub trait ClaimTx: FanLock + RewardReadTx + ClaimWrite + GrantTx
}

ports! {
    /// The stock of the shop.
    pub trait StockTx: StockWrite
}

ports! {
    /// The cart of a fan.
    pub trait CartTx: FanLock + CartWrite + CartReadTx
}

ports! {
    /// Sold copies of packs and their contents.
    pub trait CopyTx: SaleWrite + OpeningWrite + PackBatch
}

ports! {
    /// Opening of packs.
    pub trait PackTx: FanLock + CatalogueRead + CopyTx + MintingWrite
}

ports! {
    /// Grants of coins, packs, collectibles and products.
    pub trait GrantTx: GrantWrite + CatalogueRead + CopyTx + TransferTx
}

ports! {
    /// Grants of games, which also give points.
    pub trait GameGrantTx: GrantTx + BoardTx
}

ports! {
    /// The list of wheels, and what their segments may give.
    pub trait WheelContentTx: WheelWrite + CatalogueRead + ProductRead
}

ports! {
    /// Spins of wheels.
    pub trait WheelTx: WheelWrite + QuestWrite + QuestBatch + AccountRead + GameGrantTx
}

ports! {
    /// The list of rounds.
    pub trait TriviaContentTx: TriviaWrite + TeamRead
}

ports! {
    /// Rounds of trivia, and the points that they award.
    pub trait TriviaTx: TriviaWrite + FanLock + GameGrantTx
}

ports! {
    /// States of purchases and orders, and of their payments.
    pub trait PurchaseTx: SaleWrite + OrderWrite + PaymentWrite + EventLog
}

ports! {
    /// Checkouts, whose URLs stored answers contain.
    pub trait CheckoutTx: PurchaseTx + IdempotencyWrite
}

ports! {
    /// Settlement of purchases and orders in the ledger.
    pub trait SettlementTx: PurchaseTx + GrantTx + CartTx
}

ports! {
    /// Purchases, orders, payments and refunds of a fan.
    pub trait PaymentTx: FanLock + AccountWrite + CatalogueRead + ProductRead + SettlementTx
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
        + ShopContentTx
        + WheelContentTx
        + TriviaContentTx
        + PackTx
        + PaymentTx
        + MediaWrite
        + SearchWrite
        + WalletTx
        + RewardContentTx
        + ClaimTx
        + NotificationTx
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
        + ShopContentTx
        + RewardContentTx
        + ClaimTx
        + WheelContentTx
        + TriviaContentTx
        + TeamWrite
        + ContentWrite
        + PackTx
        + GrantTx
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
        + TransferTx
        + PointsRepairTx
        + MintingUpkeep
        + TopicWrite
        + SearchWrite
        + WalletRepair
        + MintReportWrite
        + NotificationWrite
        + PushWrite
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
        + WalletTx
        + NotificationTx
        + InboxTx
        + FirstHundredTx
        + StreakTx
        + CatalogueTx
        + ShopContentTx
        + StockTx
        + CartTx
        + RewardContentTx
        + ClaimTx
        + TillWrite
        + PackTx
        + CheckoutTx
        + PaymentTx
        + WheelContentTx
        + WheelTx
        + TriviaContentTx
        + TriviaTx
        + GameGrantTx
        + JobTx
        + DemoTx
        + OpsTx
        + TrendWrite
        + ConsumerWrite
        + DismissalWrite
        + MintingDelivery
        + MintReportWrite
        + SandboxWrite
        + SecretMarks
}

for_commands! {
    AccountWrite, BackfillWrite, BoardWrite, ContentWrite, DismissalWrite, LeaseWrite, MediaWrite, MintReportWrite, MintingDelivery, MintingUpkeep, PointsRepair, PushWrite, SaleRead, SandboxWrite, SecretMarks, SessionWrite, TeamWrite, TillWrite, TrendWrite, WalletRepair,
}

for_queries! {
    AccountRead, Audit, BackfillRead, BoardRead, CardRead, CatalogueRead, ClaimRead, ContentRead, EventRead, JobRead, LedgerRead, MediaRead, MintingRead, NotificationRead, PaymentCount, PaymentRead, PointsAudit, PointsRead, ProductRead, PushRead, QuestRead, RewardRead, SaleRead, ServerClockRead, SessionRead, SweepRead, TeamRead, TillRead, TriviaRead, WalletRead, WheelRead,
}
