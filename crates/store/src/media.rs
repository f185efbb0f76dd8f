//! Database records of pictures. A picture may be referenced by profiles, by posts that are not deleted, by undecided
//! reports, by uploads that wait for a post, and as a thumbnail by the record of a larger picture.

use crate::objects::ObjectKey;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{MediaHash, MediaId, StoreError, Timestamp, UnknownName, UserId};

/// Types of pictures that are accepted and served.
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

    /// The media type, as used in headers and stored in tables.
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

/// A picture whose object has been stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMedia {
    /// Object that holds the bytes.
    pub object: ObjectKey,
    /// Media type.
    pub kind: ImageType,
    /// Size in bytes.
    pub size: u64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Hash of a smaller picture of the same content, which is recorded already.
    pub thumbnail: Option<MediaHash>,
    /// Account that uploaded it first.
    pub uploader: UserId,
}

/// An uploaded picture that waits for a post of its uploader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload {
    pub id: MediaId,
    /// Hash of the picture.
    pub hash: MediaHash,
    /// Account that uploaded it.
    pub uploader: UserId,
    /// Time of the upload.
    pub created_at: Timestamp,
    /// Time until which a post may use it.
    pub expires_at: Timestamp,
}

/// Limits for uploads of one account that wait for posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadQuota {
    /// Number of pictures.
    pub count: u32,
    /// Total size in bytes.
    pub bytes: u64,
}

/// Uploads of one account that wait for posts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitingUploads {
    /// Number of pictures.
    pub count: u32,
    /// Total size in bytes.
    pub bytes: u64,
}

/// A picture that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredMedia {
    /// Object that holds the bytes.
    pub object: ObjectKey,
    /// Media type.
    pub kind: ImageType,
    /// Size in bytes.
    pub size: u64,
}

/// Reads picture records.
pub trait MediaRead {
    /// Returns the picture if anything references it at `now`.
    fn media(&mut self, hash: MediaHash, now: Timestamp) -> Result<Option<StoredMedia>, StoreError>;

    /// Returns the subset of these objects that hold a picture.
    fn known_objects(&mut self, objects: &[ObjectKey]) -> Result<Vec<ObjectKey>, StoreError>;

    /// Returns the uploads of an account that were neither used by a post nor swept.
    fn waiting_uploads(&mut self, uploader: UserId) -> Result<WaitingUploads, StoreError>;
}

/// Writes picture records.
pub trait MediaWrite: MediaRead {
    /// Locks a picture record until the transaction ends, so that it is not removed before the transaction references
    /// it; returns `false` if there is no such record with this thumbnail.
    fn hold_media(&mut self, hash: MediaHash, thumbnail: Option<MediaHash>) -> Result<bool, StoreError>;

    /// Inserts a picture record. An existing record is locked instead, and keeps its object, and its thumbnail if it
    /// has one.
    fn insert_media(&mut self, media: &NewMedia, at: Timestamp) -> Result<(), StoreError>;

    /// Inserts an upload unless the account would exceed the quota; returns `false` if it would. Locks the picture
    /// record and the uploader's account.
    fn insert_upload(&mut self, upload: &NewUpload, quota: UploadQuota) -> Result<bool, StoreError>;

    /// Consumes an upload for a post; returns `None` if `uploader` has no unexpired upload with this id. Of two
    /// concurrent calls, one succeeds.
    fn take_upload(
        &mut self,
        id: MediaId,
        uploader: UserId,
        now: Timestamp,
    ) -> Result<Option<MediaHash>, StoreError>;

    /// Removes all uploads of an account that is being deleted; returns how many. References from its profile and
    /// posts are removed elsewhere.
    fn remove_uploads_of(&mut self, uploader: UserId) -> Result<u64, StoreError>;

    /// Removes up to `limit` uploads that expired at or before `before`; returns how many.
    fn sweep_uploads(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Marks unreferenced pictures that are not marked yet as unused since `now`; returns how many. It scans only
    /// hashes whose first byte is `shard`, so that no call scans the whole table.
    fn mark_unused_media(&mut self, shard: u8, now: Timestamp) -> Result<u64, StoreError>;

    /// Clears this mark on up to `limit` pictures that are referenced again; returns how many.
    fn unmark_used_media(&mut self, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` pictures that were marked at or before `before` and are unreferenced; returns their
    /// objects. A further call removes their thumbnails.
    fn remove_unused_media(&mut self, before: Timestamp, limit: u32) -> Result<Vec<ObjectKey>, StoreError>;
}
