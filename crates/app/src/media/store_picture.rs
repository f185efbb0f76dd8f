//! Records a picture whose bytes are stored, for a row that is about to refer to it.

use crate::media::NewMedia;
use crate::store::media::MediaWrite;
use terrace_kernel::{Ctx, Failure, MediaHash, Outcome, UserId};

/// A picture that a row is about to refer to.
#[derive(Debug, Clone)]
pub(crate) enum StorePicture {
    /// A picture that may already be recorded, with its thumbnail.
    Known(MediaHash, Option<MediaHash>),
    /// A picture whose object was just stored, and its thumbnail.
    Put(NewMedia, Option<NewMedia>),
}

/// Why the picture was not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorePictureRefusal {
    /// No picture with this hash is recorded (any more); its object must be stored first.
    Unknown,
    /// The account was deleted or suspended.
    NoAccount,
    /// The account's uploads without a post have reached their quota.
    TooManyUploads,
}

impl StorePicture {
    /// The picture as one of this account.
    pub(crate) fn of(&self, uploader: UserId) -> Self {
        match self {
            Self::Known(hash, thumbnail) => Self::Known(*hash, *thumbnail),
            Self::Put(media, thumbnail) => {
                let of = |media: &NewMedia| NewMedia { uploader, ..media.clone() };
                Self::Put(of(media), thumbnail.as_ref().map(of))
            }
        }
    }

    /// Records the picture, which protects it from the sweep, and returns its hash.
    pub(crate) fn keep(&self, tx: &mut dyn MediaWrite, ctx: &Ctx) -> Outcome<MediaHash, StorePictureRefusal> {
        match self {
            Self::Known(hash, thumbnail) if tx.hold_media(*hash, *thumbnail)? => Ok(*hash),
            Self::Known(..) => Err(Failure::Refused(StorePictureRefusal::Unknown)),
            Self::Put(media, thumbnail) => {
                if let Some(thumbnail) = thumbnail {
                    tx.insert_media(thumbnail, ctx.now())?;
                }
                tx.insert_media(media, ctx.now())?;
                Ok(media.object.hash)
            }
        }
    }
}
