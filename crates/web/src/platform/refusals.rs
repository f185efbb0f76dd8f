//! Maps the refusals of every use case to the codes of [`crate::error`], with exhaustive matches.

use crate::error::{ApiError, Code, Invalid};
use terrace_app::accounts::{ChangeProfileRefusal, EndSessionRefusal, NotFound};
use terrace_app::boards::MembershipRefusal;
use terrace_app::graph::{BlockRefusal, DismissRefusal, FollowRefusal, FollowTeamRefusal};
use terrace_app::media::{NotAnImage, UploadRefusal};
use terrace_app::packs::{OpenPackRefusal, PurchasePackRefusal};
use terrace_app::payments::{CheckoutRefusal, CompletePurchaseRefusal, ReturnPurchaseRefusal};
use terrace_app::quests::{CompleteStepRefusal, StartQuestRefusal};
use terrace_app::room::{
    CreateCommentRefusal, CreatePostRefusal, DeleteCommentRefusal, DeletePostRefusal, FeedRefusal,
    ReactRefusal, ReportPostRefusal,
};
use terrace_app::trends::TrendingRefusal;
use terrace_app::{
    AwardPointsRefusal, BoardRefusal, ChangePasswordRefusal, DeleteAccountRefusal, LoginRefusal, NotActive,
    OnceRefusal, RecommendRefusal, RefreshRefusal, RegisterRefusal,
};
use terrace_packs::SaleRefusal;
use terrace_quests::{StartRefusal, StepRefusal};
use terrace_scoring::AwardRefusal;

fn no_post() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such post")
}

/// The same text for an account that does not exist, is suspended, or is hidden from the caller.
fn no_fan() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such fan")
}

/// The account was deleted or suspended after its session was checked.
fn no_longer() -> ApiError {
    Code::AuthenticationRequired.into()
}

fn unknown_team(pointer: &str) -> ApiError {
    Invalid::at(pointer, "no team has this id")
}

fn no_board() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such board")
}

impl From<BoardRefusal> for ApiError {
    fn from(refusal: BoardRefusal) -> Self {
        match refusal {
            BoardRefusal::UnknownBoard => no_board(),
            BoardRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            BoardRefusal::UnknownSeason => Self::new(Code::NotFound, "there is no such season of this board"),
        }
    }
}

impl From<MembershipRefusal> for ApiError {
    fn from(refusal: MembershipRefusal) -> Self {
        match refusal {
            MembershipRefusal::UnknownBoard => no_board(),
            MembershipRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            MembershipRefusal::SeasonClosed | MembershipRefusal::NoSeason => Code::SeasonClosed.into(),
            MembershipRefusal::NotActive => no_longer(),
        }
    }
}

impl From<AwardPointsRefusal> for ApiError {
    fn from(refusal: AwardPointsRefusal) -> Self {
        match refusal {
            AwardPointsRefusal::Rule(AwardRefusal::SeasonClosed) => Code::SeasonClosed.into(),
            AwardPointsRefusal::Rule(
                rule @ (AwardRefusal::TooLarge | AwardRefusal::Negative | AwardRefusal::Reversal),
            ) => Invalid::at("/amount", rule.to_string()),
            AwardPointsRefusal::NotActive => no_fan(),
            AwardPointsRefusal::UnknownTeam => unknown_team("/teamId"),
        }
    }
}

impl From<NotActive> for ApiError {
    fn from(NotActive: NotActive) -> Self {
        no_longer()
    }
}

impl From<StartQuestRefusal> for ApiError {
    fn from(refusal: StartQuestRefusal) -> Self {
        match refusal {
            StartQuestRefusal::UnknownQuest => Self::new(Code::NotFound, "there is no such quest"),
            StartQuestRefusal::Rule(StartRefusal::QuestClosed) => Code::QuestClosed.into(),
            StartQuestRefusal::Rule(StartRefusal::PrerequisitesMissing) => Code::QuestLocked.into(),
            StartQuestRefusal::NotActive => no_longer(),
        }
    }
}

impl From<CompleteStepRefusal> for ApiError {
    fn from(refusal: CompleteStepRefusal) -> Self {
        match refusal {
            CompleteStepRefusal::UnknownStep | CompleteStepRefusal::Rule(StepRefusal::NoSuchStep) => {
                Self::new(Code::NotFound, "there is no such step")
            }
            CompleteStepRefusal::Rule(StepRefusal::QuestNotStarted) => Code::QuestNotStarted.into(),
            CompleteStepRefusal::Rule(StepRefusal::QuestClosed) => Code::QuestClosed.into(),
            CompleteStepRefusal::Rule(StepRefusal::OutOfOrder) => Code::StepOutOfOrder.into(),
            CompleteStepRefusal::Rule(StepRefusal::ConditionNotMet) => Code::StepConditionNotMet.into(),
            CompleteStepRefusal::NotActive => no_longer(),
        }
    }
}

impl From<PurchasePackRefusal> for ApiError {
    fn from(refusal: PurchasePackRefusal) -> Self {
        match refusal {
            PurchasePackRefusal::UnknownPack => Self::new(Code::NotFound, "there is no such pack"),
            PurchasePackRefusal::Rule(rule) => {
                let code = match rule {
                    SaleRefusal::PackClosed => Code::PackClosed,
                    SaleRefusal::LimitReached { .. } | SaleRefusal::TooManyPending => Code::LimitReached,
                    SaleRefusal::SoldOut { .. } => Code::SoldOut,
                    SaleRefusal::AccountTooNew { .. } => Code::AccountTooNew,
                    SaleRefusal::TooManyAbandoned { wait } => {
                        let wait = wait.as_secs().saturating_add(1);
                        return Self::new(Code::TooManyAbandoned, rule.to_string()).retry_after(wait);
                    }
                };
                Self::new(code, rule.to_string())
            }
            PurchasePackRefusal::Insufficient { has } => {
                Self::new(Code::InsufficientBalance, format!("you have {has}"))
            }
            PurchasePackRefusal::PaymentUnavailable => Code::PaymentUnavailable.into(),
            PurchasePackRefusal::NotActive => no_longer(),
        }
    }
}

impl From<ReturnPurchaseRefusal> for ApiError {
    fn from(refusal: ReturnPurchaseRefusal) -> Self {
        match refusal {
            ReturnPurchaseRefusal::UnknownPurchase => Self::new(Code::NotFound, "you have no such purchase"),
            ReturnPurchaseRefusal::Used => {
                Self::new(Code::GoodsUsed, "a copy of this purchase was opened; it cannot be returned")
            }
            ReturnPurchaseRefusal::NotActive => no_longer(),
        }
    }
}

impl From<CheckoutRefusal> for ApiError {
    fn from(refusal: CheckoutRefusal) -> Self {
        match refusal {
            CheckoutRefusal::UnknownPurchase => Self::new(Code::NotFound, "you have no such purchase"),
            CheckoutRefusal::NotNow => Self::unavailable("the payment provider does not answer", 5),
            CheckoutRefusal::Unavailable => Code::PaymentUnavailable.into(),
        }
    }
}

impl From<CompletePurchaseRefusal> for ApiError {
    fn from(refusal: CompletePurchaseRefusal) -> Self {
        match refusal {
            CompletePurchaseRefusal::UnknownPurchase => {
                Self::new(Code::NotFound, "you have no such purchase of this pack")
            }
            CompletePurchaseRefusal::Pending => Code::PaymentPending.into(),
            CompletePurchaseRefusal::Expired => Code::PurchaseExpired.into(),
            CompletePurchaseRefusal::Cancelled => Code::PurchaseCancelled.into(),
            CompletePurchaseRefusal::Refunded => Code::PurchaseRefunded.into(),
        }
    }
}

impl From<OpenPackRefusal> for ApiError {
    fn from(refusal: OpenPackRefusal) -> Self {
        match refusal {
            OpenPackRefusal::UnknownCopy => Self::new(Code::NotFound, "you have no such copy of this pack"),
            OpenPackRefusal::NothingSealed => {
                Self::new(Code::NotFound, "you have no sealed copy of this pack")
            }
            OpenPackRefusal::Revoked => Self::new(Code::Conflict, "the copy was taken back"),
            OpenPackRefusal::NotActive => no_longer(),
        }
    }
}

fn busy() -> ApiError {
    ApiError::unavailable("too many passwords wait to be checked", 1)
}

impl From<NotFound> for ApiError {
    fn from(NotFound: NotFound) -> Self {
        Code::NotFound.into()
    }
}

impl From<RegisterRefusal> for ApiError {
    fn from(refusal: RegisterRefusal) -> Self {
        match refusal {
            RegisterRefusal::WeakPassword(error) => Invalid::at("/password", error.to_string()),
            RegisterRefusal::UsernameTaken => Code::UsernameTaken.into(),
            RegisterRefusal::KeyReused => Code::IdempotencyKeyReused.into(),
            RegisterRefusal::Suspended => Code::AccountSuspended.into(),
            RegisterRefusal::Busy => busy(),
        }
    }
}

impl From<LoginRefusal> for ApiError {
    fn from(refusal: LoginRefusal) -> Self {
        match refusal {
            LoginRefusal::InvalidCredentials => Code::InvalidCredentials.into(),
            LoginRefusal::Suspended => Code::AccountSuspended.into(),
            LoginRefusal::Busy => busy(),
        }
    }
}

impl From<ChangePasswordRefusal> for ApiError {
    fn from(refusal: ChangePasswordRefusal) -> Self {
        match refusal {
            ChangePasswordRefusal::WeakPassword(error) => Invalid::at("/newPassword", error.to_string()),
            // The session is valid, so the status is not 401, which would make clients discard it.
            ChangePasswordRefusal::WrongPassword => Code::WrongPassword.into(),
            ChangePasswordRefusal::Busy => busy(),
        }
    }
}

impl From<RefreshRefusal> for ApiError {
    fn from(refusal: RefreshRefusal) -> Self {
        match refusal {
            RefreshRefusal::InvalidToken => Code::InvalidToken.into(),
            RefreshRefusal::TokenReused => Code::TokenReused.into(),
        }
    }
}

impl<R: Into<Self>> From<OnceRefusal<R>> for ApiError {
    fn from(refusal: OnceRefusal<R>) -> Self {
        match refusal {
            OnceRefusal::KeyReused => Code::IdempotencyKeyReused.into(),
            OnceRefusal::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<ChangeProfileRefusal> for ApiError {
    fn from(refusal: ChangeProfileRefusal) -> Self {
        match refusal {
            ChangeProfileRefusal::UnknownTeam => unknown_team("/favoriteTeamId"),
            ChangeProfileRefusal::NoAccount => no_longer(),
        }
    }
}

impl From<DeleteAccountRefusal> for ApiError {
    fn from(refusal: DeleteAccountRefusal) -> Self {
        match refusal {
            DeleteAccountRefusal::NotActive => no_longer(),
            // The session is valid, so the status is not 401, which would make clients discard it.
            DeleteAccountRefusal::WrongPassword => Code::WrongPassword.into(),
            DeleteAccountRefusal::BalanceLeft => {
                Self::new(Code::BalanceLeft, "money is left on an account of yours")
            }
            DeleteAccountRefusal::Busy => busy(),
        }
    }
}

impl From<EndSessionRefusal> for ApiError {
    fn from(refusal: EndSessionRefusal) -> Self {
        match refusal {
            EndSessionRefusal::NotFound => Self::new(Code::NotFound, "you have no such session"),
        }
    }
}

impl From<FeedRefusal> for ApiError {
    fn from(refusal: FeedRefusal) -> Self {
        match refusal {
            FeedRefusal::SignInFirst => Code::AuthenticationRequired.into(),
            FeedRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
        }
    }
}

impl From<TrendingRefusal> for ApiError {
    fn from(refusal: TrendingRefusal) -> Self {
        match refusal {
            TrendingRefusal::SignInFirst => Code::AuthenticationRequired.into(),
            TrendingRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            TrendingRefusal::Expired => Self::new(
                Code::CursorExpired,
                "the ranking that this page belongs to is gone; begin again without a cursor",
            ),
        }
    }
}

impl From<CreatePostRefusal> for ApiError {
    fn from(refusal: CreatePostRefusal) -> Self {
        match refusal {
            CreatePostRefusal::UnknownTeam => unknown_team("/teamId"),
            CreatePostRefusal::UnknownMedia => {
                Invalid::at("/mediaId", "no upload of yours that still waits for a post has this id")
            }
            CreatePostRefusal::NotActive => no_longer(),
        }
    }
}

impl From<UploadRefusal> for ApiError {
    fn from(refusal: UploadRefusal) -> Self {
        match refusal {
            UploadRefusal::NotAnImage(NotAnImage(why)) => Self::new(Code::NotAnImage, why),
            UploadRefusal::Busy => Self::unavailable("too many pictures wait to be rendered", 2),
            UploadRefusal::NoAccount => Code::NotFound.into(),
            UploadRefusal::TooManyUploads => Self::new(
                Code::TooManyUploads,
                "the account's uploads that no post has taken have reached their quota; they expire after a day",
            ),
        }
    }
}

impl From<DeletePostRefusal> for ApiError {
    fn from(refusal: DeletePostRefusal) -> Self {
        match refusal {
            DeletePostRefusal::NotFound => no_post(),
            DeletePostRefusal::NotYours => Self::new(Code::Forbidden, "another fan wrote this post"),
        }
    }
}

impl From<CreateCommentRefusal> for ApiError {
    fn from(refusal: CreateCommentRefusal) -> Self {
        match refusal {
            CreateCommentRefusal::PostNotFound => no_post(),
            CreateCommentRefusal::NotActive => no_longer(),
        }
    }
}

impl From<DeleteCommentRefusal> for ApiError {
    fn from(refusal: DeleteCommentRefusal) -> Self {
        match refusal {
            DeleteCommentRefusal::NotFound => Self::new(Code::NotFound, "there is no such comment"),
            DeleteCommentRefusal::NotYours => Self::new(Code::Forbidden, "another fan wrote this comment"),
        }
    }
}

impl From<ReactRefusal> for ApiError {
    fn from(refusal: ReactRefusal) -> Self {
        match refusal {
            ReactRefusal::PostNotFound => no_post(),
            ReactRefusal::NotActive => no_longer(),
        }
    }
}

impl From<ReportPostRefusal> for ApiError {
    fn from(refusal: ReportPostRefusal) -> Self {
        match refusal {
            ReportPostRefusal::PostNotFound => no_post(),
        }
    }
}

impl From<FollowRefusal> for ApiError {
    fn from(refusal: FollowRefusal) -> Self {
        match refusal {
            FollowRefusal::Oneself => Code::CannotFollowSelf.into(),
            FollowRefusal::NotFound => no_fan(),
            FollowRefusal::NotActive => no_longer(),
        }
    }
}

impl From<FollowTeamRefusal> for ApiError {
    fn from(refusal: FollowTeamRefusal) -> Self {
        match refusal {
            FollowTeamRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            FollowTeamRefusal::NotActive => no_longer(),
        }
    }
}

impl From<BlockRefusal> for ApiError {
    fn from(refusal: BlockRefusal) -> Self {
        match refusal {
            BlockRefusal::Oneself => Code::CannotBlockSelf.into(),
            BlockRefusal::NotFound => no_fan(),
            BlockRefusal::NotActive => no_longer(),
        }
    }
}

impl From<RecommendRefusal> for ApiError {
    fn from(refusal: RecommendRefusal) -> Self {
        match refusal {
            RecommendRefusal::Busy => Self::unavailable("too many recommendations wait to be made", 1),
        }
    }
}

impl From<DismissRefusal> for ApiError {
    fn from(refusal: DismissRefusal) -> Self {
        match refusal {
            DismissRefusal::NotFound => no_fan(),
        }
    }
}
