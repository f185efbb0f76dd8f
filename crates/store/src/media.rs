//! What the database knows of pictures. A picture is referred to by profiles, by posts that are not deleted, and by
//! uploads that wait for a post.

use crate::objects::ObjectKey;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{MediaHash, MediaId, StoreError, Timestamp, UnknownName, UserId};

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

/// A picture whose object was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMedia {
    /// The object that holds its bytes.
    pub object: ObjectKey,
    /// Its type.
    pub kind: ImageType,
    /// How many bytes it has.
    pub size: u64,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Who uploaded it first.
    pub uploader: UserId,
}

/// A picture that waits for a post of its uploader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload {
    /// Its id.
    pub id: MediaId,
    /// The picture.
    pub hash: MediaHash,
    /// Who uploaded it.
    pub uploader: UserId,
    /// When.
    pub created_at: Timestamp,
    /// Until when a post may take it.
    pub expires_at: Timestamp,
}

/// How much of an account may wait for posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadQuota {
    /// Pictures.
    pub count: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// What waits for posts of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitingUploads {
    /// Pictures.
    pub count: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// A picture that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredMedia {
    /// The object that holds its bytes.
    pub object: ObjectKey,
    /// Its type.
    pub kind: ImageType,
    /// How many bytes it has.
    pub size: u64,
}

/// Reads what is known of pictures.
pub trait MediaRead {
    /// The picture, if something refers to it at `now`.
    fn media(&mut self, hash: MediaHash, now: Timestamp) -> Result<Option<StoredMedia>, StoreError>;

    /// Those of the objects that a picture lies in.
    fn known_objects(&mut self, objects: &[ObjectKey]) -> Result<Vec<ObjectKey>, StoreError>;

    /// The uploads of an account that no post has taken and that have not been swept.
    fn waiting_uploads(&mut self, uploader: UserId) -> Result<WaitingUploads, StoreError>;
}

/// Writes what is known of pictures.
pub trait MediaWrite: MediaRead {
    /// Keeps a known picture from being removed, until the transaction that is about to refer to it has done so;
    /// `false` when it is not known.
    fn hold_media(&mut self, hash: MediaHash) -> Result<bool, StoreError>;

    /// Notes a picture. One that is known already is held, and stays in the object that it lies in.
    fn insert_media(&mut self, media: &NewMedia, at: Timestamp) -> Result<(), StoreError>;

    /// Writes an upload unless the account would exceed the quota; `false` where it would. The picture is held, and
    /// the uploader's account is locked.
    fn insert_upload(&mut self, upload: &NewUpload, quota: UploadQuota) -> Result<bool, StoreError>;

    /// Takes a waiting picture away for a post; `None` when `uploader` has none of this id that is still good.
    /// Of two that take it at once, one gets it.
    fn take_upload(
        &mut self,
        id: MediaId,
        uploader: UserId,
        now: Timestamp,
    ) -> Result<Option<MediaHash>, StoreError>;

    /// Removes every upload of an account that goes; says how many. What it shows is let go where it is shown.
    fn remove_uploads_of(&mut self, uploader: UserId) -> Result<u64, StoreError>;

    /// Removes up to `limit` uploads that waited until `before` or less; says how many.
    fn sweep_uploads(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Notes pictures that nothing refers to, and that were not noted yet, as seen so at `now`; says how many. It
    /// looks at those whose hash begins with the byte `shard`, so that no call looks at all.
    fn mark_unused_media(&mut self, shard: u8, now: Timestamp) -> Result<u64, StoreError>;

    /// Takes that note from up to `limit` pictures that are referred to again; says how many.
    fn unmark_used_media(&mut self, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` pictures that were noted at `before` or earlier and that nothing refers to; says in
    /// which objects they lie.
    fn remove_unused_media(&mut self, before: Timestamp, limit: u32) -> Result<Vec<ObjectKey>, StoreError>;
}
