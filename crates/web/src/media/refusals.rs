//! Maps the refusals of uploads to error codes.

use crate::error::{ApiError, Code};
use terrace_app::media::{NotAnImage, UploadRefusal};

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
