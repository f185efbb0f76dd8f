//! Pictures: an upload is decoded and encoded again (`render`), stored under its hash (`object`), and kept as long as
//! something refers to it (`terrace-ops` removes the others).
//!
//! An object is stored before the row that refers to it, so that a crash leaves at most an unused object. Each upload
//! has its own object: objects are never overwritten and their names never reused, so that removing an object cannot
//! affect a concurrent upload of the same picture.

mod container;
mod erasure;
mod object;
mod prepared;
mod render;
#[cfg(test)]
mod samples;
mod serve;
mod set_picture;
mod store_picture;
mod upload;
mod upload_media;

pub(crate) use erasure::ERASURE;
pub use set_picture::RemovePicture;
pub(crate) use set_picture::SetPicture;
pub(crate) use store_picture::{StorePicture, StorePictureRefusal};
pub(crate) use upload_media::UploadMedia;

pub use crate::store::media::{
    ImageType, MediaRead, MediaWrite, NewMedia, NewUpload, StoredMedia, UploadQuota, WaitingUploads,
};
pub use crate::store::{ByteStream, MediaStore, ObjectKey};
pub(crate) use object::NoMediaStore;
pub use prepared::{PreparedPicture, prepare_picture};
pub use serve::ServedMedia;
pub use upload::{PictureUpload, UploadRefusal, Uploaded};

/// Why a file is not accepted as a picture, as a message for the uploader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnImage(pub &'static str);
