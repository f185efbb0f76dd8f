//! Notes a picture whose bytes are stored, for whatever is about to refer to it.

use crate::media::NewMedia;
use crate::store::Tx;
use terrace_kernel::{Ctx, Failure, MediaHash, Outcome};

/// A picture that something is about to refer to.
#[derive(Debug, Clone)]
pub(crate) enum StorePicture {
    /// One that may be known.
    Known(MediaHash),
    /// One whose object was put a moment ago.
    Put(NewMedia),
}

/// Why nothing came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorePictureRefusal {
    /// No such picture is known (any more): its object is to be put first.
    Unknown,
    /// The account is gone.
    NoAccount,
    /// The account's uploads that wait for posts have reached their quota.
    TooManyUploads,
}

impl StorePicture {
    /// Notes the picture, which is safe from the sweep from now on, and says its hash.
    pub(crate) fn keep(&self, tx: &mut dyn Tx, ctx: &Ctx) -> Outcome<MediaHash, StorePictureRefusal> {
        match self {
            Self::Known(hash) if tx.hold_media(*hash)? => Ok(*hash),
            Self::Known(_) => Err(Failure::Refused(StorePictureRefusal::Unknown)),
            Self::Put(media) => {
                tx.insert_media(media, ctx.now())?;
                Ok(media.object.hash)
            }
        }
    }
}
