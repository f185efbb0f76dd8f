//! Maps the refusals of the locker room to error codes.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::{no_longer, unknown_team};
use terrace_app::room::{
    CreateCommentRefusal, CreatePostRefusal, CreateReplyRefusal, DeleteCommentRefusal, DeletePostRefusal,
    EditCommentRefusal, EditPostRefusal, FeedRefusal, LikeCommentRefusal, ReactRefusal, ReportCommentRefusal,
    ReportPostRefusal,
};

fn no_post() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such post")
}

impl From<FeedRefusal> for ApiError {
    fn from(refusal: FeedRefusal) -> Self {
        match refusal {
            FeedRefusal::SignInFirst => Code::AuthenticationRequired.into(),
            FeedRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
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

fn edit_window_over() -> ApiError {
    ApiError::new(Code::EditWindowOver, "posts and comments can be edited for 15 minutes")
}

impl From<EditPostRefusal> for ApiError {
    fn from(refusal: EditPostRefusal) -> Self {
        match refusal {
            EditPostRefusal::NotFound => no_post(),
            EditPostRefusal::NotYours => Self::new(Code::Forbidden, "another fan wrote this post"),
            EditPostRefusal::TooLate => edit_window_over(),
        }
    }
}

impl From<EditCommentRefusal> for ApiError {
    fn from(refusal: EditCommentRefusal) -> Self {
        match refusal {
            EditCommentRefusal::NotFound => no_comment(),
            EditCommentRefusal::NotYours => Self::new(Code::Forbidden, "another fan wrote this comment"),
            EditCommentRefusal::TooLate => edit_window_over(),
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

fn no_comment() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such comment")
}

impl From<CreateReplyRefusal> for ApiError {
    fn from(refusal: CreateReplyRefusal) -> Self {
        match refusal {
            CreateReplyRefusal::Comment(refusal) => refusal.into(),
            CreateReplyRefusal::UnknownComment => {
                Invalid::at("/replyTo", "the post has no comment with this id")
            }
        }
    }
}

impl From<LikeCommentRefusal> for ApiError {
    fn from(refusal: LikeCommentRefusal) -> Self {
        match refusal {
            LikeCommentRefusal::NotFound => no_comment(),
            LikeCommentRefusal::NotActive => no_longer(),
        }
    }
}

impl From<ReportCommentRefusal> for ApiError {
    fn from(refusal: ReportCommentRefusal) -> Self {
        match refusal {
            ReportCommentRefusal::NotFound => no_comment(),
        }
    }
}

impl From<DeleteCommentRefusal> for ApiError {
    fn from(refusal: DeleteCommentRefusal) -> Self {
        match refusal {
            DeleteCommentRefusal::NotFound => no_comment(),
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
