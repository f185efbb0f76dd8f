//! Serves pictures.

use crate::App;
use crate::accounts::NotFound;
use crate::media::{ByteStream, StoredMedia};
use crate::store::Query;
use crate::store::media::MediaRead;
use terrace_kernel::{Failure, MediaHash, Outcome, StoreError, Timestamp};

/// A picture to be served.
pub struct ServedMedia {
    /// Metadata of the picture.
    pub media: StoredMedia,
    /// Content of the picture.
    pub bytes: ByteStream,
}

impl App {
    /// Finds a picture that is in use.
    pub async fn media(&self, hash: MediaHash) -> Outcome<StoredMedia, NotFound> {
        self.query(GetMedia { hash }).await
    }

    /// Opens the content of a picture returned by [`App::media`].
    pub async fn open_media(&self, media: StoredMedia) -> Outcome<ServedMedia, NotFound> {
        match self.media.get(media.object).await? {
            Some(bytes) => Ok(ServedMedia { media, bytes }),
            None => Err(self.missing(media.object.hash).await),
        }
    }

    /// Handles a missing object: not found if the picture was removed in the meantime, otherwise a defect.
    async fn missing(&self, hash: MediaHash) -> Failure<NotFound> {
        match self.media(hash).await {
            Ok(media) => {
                Failure::Broken(StoreError::defect("open a picture", format!("no object {}", media.object)))
            }
            Err(failure) => failure,
        }
    }
}

struct GetMedia {
    hash: MediaHash,
}

impl Query for GetMedia {
    const NAME: &'static str = "get_media";
    type Ports = dyn MediaRead;
    type Output = StoredMedia;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn MediaRead, now: Timestamp) -> Outcome<StoredMedia, NotFound> {
        tx.media(self.hash, now)?.ok_or(Failure::Refused(NotFound))
    }
}
