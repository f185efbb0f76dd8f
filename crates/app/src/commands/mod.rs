//! What can be done, one file per command.

mod award_points;
mod block_user;
mod board_membership;
mod change_password;
mod change_profile;
mod complete_purchase;
mod create_comment;
mod create_post;
mod delete_account;
mod delete_comment;
mod delete_post;
mod dismiss;
mod end_session;
mod follow_team;
mod follow_user;
mod load_packs;
mod move_coins;
mod open_pack;
mod operate_account;
mod purchase_pack;
mod quests;
mod react;
mod refresh_session;
mod register;
mod report_post;
mod return_purchase;
mod reverse_points;
mod seasons;
mod set_picture;
mod sign_in;
mod store_picture;
mod take_notice;
mod touch_session;
mod upload_media;

pub use award_points::AwardPoints;
pub use block_user::{BlockRefusal, BlockUser, UnblockUser};
pub use board_membership::{BoardChoice, BoardJoined, ChangeBoardMembership, MembershipRefusal};
pub(crate) use board_membership::{EnsureTeamBoard, board_name};
pub(crate) use change_password::ReplacePassword;
pub use change_profile::{ChangeProfile, ChangeProfileRefusal};
pub use complete_purchase::{CompletePurchase, CompletePurchaseRefusal};
pub(crate) use complete_purchase::{EndPending, HowItEnds, RecordCheckout};
pub use create_comment::{CommentCreated, CreateComment, CreateCommentRefusal};
pub use create_post::{CreatePost, CreatePostRefusal};
pub(crate) use delete_account::{DeleteAccount, DeleteAccountRuleRefusal};
pub use delete_comment::{DeleteComment, DeleteCommentRefusal};
pub use delete_post::{DeletePost, DeletePostRefusal};
pub use dismiss::{Dismiss, DismissRefusal};
pub(crate) use end_session::EndSession;
pub use end_session::EndSessionRefusal;
pub use follow_team::{FollowTeam, FollowTeamRefusal, UnfollowTeam};
pub(crate) use follow_user::end_follow;
pub use follow_user::{FollowRefusal, FollowUser, Following, UnfollowUser};
pub(crate) use load_packs::LoadPacks;
pub use move_coins::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
pub use open_pack::{OpenPack, OpenPackRefusal, PackOpened, PackWish};
pub use operate_account::{GrantRole, Operated, RestoreAccount, SuspendAccount, UnknownAccount};
pub(crate) use operate_account::{ResetPassword, find_named};
pub use purchase_pack::{PackPurchased, PurchasePack, PurchasePackRefusal};
pub(crate) use quests::{CheckProgress, LoadQuests};
pub use quests::{
    CompleteStep, CompleteStepRefusal, DailyVisit, StartQuest, StartQuestRefusal, StepCompleted, VisitDaily,
};
pub use react::{React, ReactRefusal};
pub(crate) use refresh_session::{RefreshSession, Refreshed};
pub(crate) use register::{Register, RegisterOutcome, RegisterRuleRefusal, start_onboarding};
pub use report_post::{ReportPost, ReportPostRefusal};
pub use return_purchase::{ReturnPurchase, ReturnPurchaseRefusal};
pub use reverse_points::ReversePoints;
pub use seasons::{CloseSeason, StartSeason};
pub(crate) use seasons::{FoundSeasons, TurnSeasons};
pub use set_picture::RemovePicture;
pub(crate) use set_picture::SetPicture;
pub(crate) use sign_in::{Device, OpenSession, OpenSessionRefusal, Opened, Tokens};
pub(crate) use store_picture::{StorePicture, StorePictureRefusal};
pub use take_notice::{NoticeTaken, TakeNotice};
pub(crate) use touch_session::{SEEN_TO, TouchSession};
pub(crate) use upload_media::UploadMedia;

use terrace_kernel::{Failure, StoreError};

/// What a command has just written must be there.
pub(crate) fn present<T, R>(found: Option<T>, what: &str) -> Result<T, Failure<R>> {
    found.ok_or_else(|| Failure::Broken(StoreError::defect(what, "not found right after it was written")))
}
