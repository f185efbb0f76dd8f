//! Content of a club as it was loaded last.

use crate::media::ImageType;
use terrace_kernel::{MediaHash, StoreError, Timestamp};

/// The parts of a club's content that have no tables of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredContent {
    /// Version of the content, from 1.
    pub version: u32,
    /// SHA-256 of all its files, in hexadecimal digits.
    pub digest: String,
    /// Text of `club.toml`.
    pub club: String,
    /// Text of `achievements.toml`; `None` for the achievements that come with the program.
    pub achievements: Option<String>,
    /// Text of `levels.toml`; `None` for the levels that come with the program.
    pub levels: Option<String>,
    /// Path under which the logo is served, if there is one.
    pub logo_url: Option<String>,
    /// When it was loaded.
    pub loaded_at: Timestamp,
}

/// A picture of a club's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentPicture {
    /// SHA-256 of the bytes.
    pub hash: MediaHash,
    /// Type of the picture.
    pub kind: ImageType,
    /// The encoded picture.
    pub bytes: Vec<u8>,
}

/// Read access to the content of a club.
pub trait ContentRead {
    /// The content that was loaded last; `None` before the first load.
    fn stored_content(&mut self) -> Result<Option<StoredContent>, StoreError>;

    /// The picture with this hash.
    fn content_picture(&mut self, hash: MediaHash) -> Result<Option<ContentPicture>, StoreError>;
}

/// Write access to the content of a club.
pub trait ContentWrite: ContentRead {
    /// Makes other loads wait until the transaction ends.
    fn lock_content(&mut self) -> Result<(), StoreError>;

    /// Replaces the stored content.
    fn put_content(&mut self, content: &StoredContent) -> Result<(), StoreError>;

    /// Inserts a picture, unless it is stored.
    fn put_content_picture(&mut self, picture: &ContentPicture) -> Result<(), StoreError>;

    /// Removes every picture whose hash is not in `keep`; returns the number of removed pictures.
    fn remove_content_pictures(&mut self, keep: &[MediaHash]) -> Result<u64, StoreError>;
}
