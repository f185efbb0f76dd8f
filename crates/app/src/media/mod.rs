//! Pictures: what is uploaded is rendered anew (`render`), stored under its hash (`object`), and kept for as
//! long as something refers to it (`sweep`).
//!
//! An object is put before the row that tells of it, so that a crash leaves at most an object too many. Each
//! upload has an object of its own: objects are never overwritten and their names never used again, so whoever
//! removes one cannot meet an upload of the same picture.

mod container;
mod object;
mod ports;
mod render;
#[cfg(test)]
mod samples;
mod serve;
mod set_picture;
mod store_picture;
mod sweep;
mod upload;
mod upload_media;

pub use set_picture::RemovePicture;
pub(crate) use set_picture::SetPicture;
pub(crate) use store_picture::{StorePicture, StorePictureRefusal};
pub(crate) use upload_media::UploadMedia;

pub(crate) use object::NoMediaStore;
pub use object::{ByteStream, MediaStore, ObjectKey};
pub use ports::{MediaRead, MediaWrite, NewMedia, NewUpload, StoredMedia, UploadQuota, WaitingUploads};
pub use serve::ServedMedia;
pub(crate) use sweep::{Shards, SweptMedia};
pub use upload::{PictureUpload, UploadRefusal, Uploaded};

use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// The types of pictures that are taken and served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageType {
    /// `image/png`.
    Png,
    /// `image/jpeg`.
    Jpeg,
    /// `image/webp`.
    WebP,
}

impl ImageType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Png, Self::Jpeg, Self::WebP];

    /// The media type, as headers and tables hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
        }
    }
}

impl fmt::Display for ImageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ImageType {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Why a file is not taken for a picture, in words for whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnImage(pub &'static str);
