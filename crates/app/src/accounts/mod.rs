//! Accounts: registration, sessions, profiles, operators' commands, export and erasure.

mod change_password;
mod change_profile;
mod delete_account;
mod end_session;
mod erasure;
pub mod export;
mod login;
mod operate_account;
mod operators;
mod passwords;
mod queries;
mod refresh_session;
mod register;
mod sessions;
mod sign_in;
mod touch_session;
mod viewers;

pub use crate::account_data::ExportList;
pub(crate) use change_password::ReplacePassword;
pub use change_profile::{ChangeProfile, ChangeProfileRefusal};
pub(crate) use delete_account::{DeleteAccount, DeleteAccountRuleRefusal};
pub(crate) use end_session::EndSession;
pub use end_session::EndSessionRefusal;
pub use erasure::erase_left;
pub(crate) use erasure::{ERASURE, erase_account};
pub use export::ReadExport;
pub use login::{
    ChangePasswordRefusal, Grant, LoginRefusal, RefreshRefusal, RegisterRefusal, Registration, SignedUp,
};
pub use operate_account::find_named;
pub use operate_account::{GrantRole, Operated, RestoreAccount, SuspendAccount, UnknownAccount};
pub(crate) use operate_account::{ResetPassword, lock_named};
pub use operators::{DeleteAccountRefusal, ResetPasswordRefusal};
pub(crate) use passwords::PasswordFailure;
pub use passwords::{PasswordCost, Passwords, PasswordsBusy};
pub use queries::{GetOwnProfile, GetPublicProfile, NotFound, OwnProfile, PublicView};
pub(crate) use refresh_session::{RefreshSession, Refreshed};
pub(crate) use register::{Register, RegisterOutcome, RegisterRuleRefusal, start_onboarding};
pub(crate) use sessions::FindViewer;
pub use sessions::ListSessions;
pub(crate) use sign_in::{Device, OpenSession, OpenSessionRefusal, Opened, Tokens};
pub(crate) use touch_session::{SEEN_TO, TouchSession};
pub(crate) use viewers::Viewers;
