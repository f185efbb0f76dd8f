//! What can be found out, one file per subject.

mod accounts;
mod boards;
mod catalogue;
mod export;
mod followed;
mod graph;
mod locker_room;
mod overview;
mod packs;
mod payments;
mod points;
mod quests;
mod sessions;
mod trends;
mod verify;
mod wallets;

pub use accounts::{GetOwnProfile, GetPublicProfile, NotFound, OwnProfile, PublicView};
pub(crate) use boards::{
    FindBoard, HiddenAmong, HiddenFrom, ListBoards, Published, ReadCards, ReadRows, ReadSeasons, ReadStanding,
};
pub use catalogue::{GetLeague, GetTeam, ListLeagues, ListTeams};
pub use export::{ExportPage, ExportPlace, ExportRows, KeptCopy, ReadExport};
pub use graph::{FollowPage, ListBlocks, ListFollowers, ListFollowing};
pub use locker_room::{
    FeedPage, FeedRefusal, FeedScope, GetComment, GetPost, ListComments, PostPage, ReadFeed, SeenByReader,
};
pub use overview::{Overview, OverviewOf};
pub(crate) use packs::ReadPackBook;
pub use packs::{GetPurchase, ListCopies, ListOwned, ListPurchases, ReadSupply, Supply};
pub(crate) use payments::{DuePayments, FindPayment};
pub use points::{OwnPoints, ReadOwnPoints};
pub(crate) use quests::{
    ActiveAmong, ReadQuestBook, ReadStandingInQuests, ReadStandings, portion_of_standings,
};
pub use quests::{
    CompletedQuest, OwnAchievements, OwnRuns, ReadAchievements, ReadCompletedQuests, ReadOwnRuns,
};
pub(crate) use sessions::FindViewer;
pub use sessions::ListSessions;
pub use trends::{TrendingPage, TrendingRefusal, TrendingScope, Trends};
pub use verify::Verify;
pub use wallets::{ReadCash, ReadWallets, Wallets};
