//! Takes pictures in.

use crate::App;
use crate::accounts::OwnProfile;
use crate::execute::{Answered, KeyedRequest, OnceRefusal};
use crate::media::render::{Bounds, Rendered, render};
use crate::media::{
    ImageType, MediaStore, NewMedia, NotAnImage, ObjectKey, SetPicture, StorePicture, StorePictureRefusal,
    UploadMedia,
};
use crate::platform::NotDone;
use crate::store::StoredAnswer;
use bytes::Bytes;
use std::sync::Arc;
use terrace_kernel::{Failure, MediaHash, MediaId, Outcome, StoreError, UserId};

/// Pixels that a profile picture has on a side at most.
const PROFILE_SIDE: u32 = 512;
/// Pixels that a picture of a post has on a side at most.
const POST_SIDE: u32 = 2048;

/// A file that somebody sends as a picture.
#[derive(Debug, Clone)]
pub struct PictureUpload {
    /// Who sends it.
    pub user: UserId,
    /// What it is declared to be.
    pub kind: ImageType,
    /// What it holds.
    pub file: Bytes,
}

/// Why a picture was not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadRefusal {
    /// The file is no picture of the declared type, or one out of bounds.
    NotAnImage(NotAnImage),
    /// More pictures wait to be rendered than the service takes on.
    Busy,
    /// The account is gone.
    NoAccount,
    /// The account's uploads that wait for posts have reached their quota.
    TooManyUploads,
}

/// A picture that waits for a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uploaded {
    /// By what a post takes it.
    pub id: MediaId,
    /// Where it is seen.
    pub hash: MediaHash,
}

impl App {
    /// Makes the file somebody's profile picture.
    pub async fn set_picture(&self, upload: PictureUpload) -> Outcome<OwnProfile, UploadRefusal> {
        let user = upload.user;
        let rendered = self.render(upload, PROFILE_SIDE).await?;
        let known = SetPicture { user, picture: StorePicture::Known(rendered.hash) };
        match self.execute(known).await {
            Err(Failure::Refused(StorePictureRefusal::Unknown)) => {}
            outcome => return outcome.map_err(|failure| failure.map(final_refusal)),
        }
        let picture = self.put(rendered, user).await?;
        self.execute(SetPicture { user, picture }).await.map_err(|failure| failure.map(final_refusal))
    }

    /// Keeps the file for a post that its sender will create.
    pub async fn upload_media(
        &self,
        upload: PictureUpload,
        request: Option<KeyedRequest>,
        answer: fn(&Uploaded) -> StoredAnswer,
    ) -> Outcome<Answered, OnceRefusal<UploadRefusal>> {
        let refused = |failure: Failure<OnceRefusal<StorePictureRefusal>>| {
            failure.map(|refusal| match refusal {
                OnceRefusal::KeyReused => OnceRefusal::KeyReused,
                OnceRefusal::Refused(refusal) => OnceRefusal::Refused(final_refusal(refusal)),
            })
        };
        let user = upload.user;
        let rendered =
            self.render(upload, POST_SIDE).await.map_err(|failure| failure.map(OnceRefusal::Refused))?;
        let (life, quota) = (self.config.upload_life, self.config.upload_quota);
        let known = UploadMedia { user, picture: StorePicture::Known(rendered.hash), life, quota };
        match self.execute_once(known, request.clone(), answer).await {
            Err(Failure::Refused(OnceRefusal::Refused(StorePictureRefusal::Unknown))) => {}
            outcome => return outcome.map_err(refused),
        }
        let picture = self.put(rendered, user).await?;
        self.execute_once(UploadMedia { user, picture, life, quota }, request, answer).await.map_err(refused)
    }

    async fn render(&self, upload: PictureUpload, side: u32) -> Outcome<Rendered, UploadRefusal> {
        let PictureUpload { kind, file, .. } = upload;
        let bounds = Bounds { side, bytes: self.config.stored_picture_limit };
        match self.renderers.run(move || render(kind, &file, bounds)).await {
            Ok(rendered) => rendered.map_err(|reason| Failure::Refused(UploadRefusal::NotAnImage(reason))),
            Err(NotDone::Busy) => Err(Failure::Refused(UploadRefusal::Busy)),
            Err(NotDone::Panicked(error)) => {
                // A decoder gave up on a file that no other picture is like. That is the file's fault first.
                log::error!("rendering a picture: {error}");
                let reason = NotAnImage("the picture cannot be decoded");
                Err(Failure::Refused(UploadRefusal::NotAnImage(reason)))
            }
        }
    }

    /// Puts a picture's object, before anything tells of it. Whatever stops us now leaves an object that the sweep
    /// finds.
    async fn put(&self, rendered: Rendered, uploader: UserId) -> Result<StorePicture, StoreError> {
        let object = ObjectKey { hash: rendered.hash, id: self.seed().open().new_id() };
        let Rendered { bytes, kind, width, height, .. } = rendered;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.media.put(object, bytes).await?;
        Ok(StorePicture::Put(NewMedia { object, kind, size, width, height, uploader }))
    }

    /// The same service, which keeps its pictures here.
    #[must_use]
    pub fn with_media(self, media: Arc<dyn MediaStore>) -> Self {
        Self { media, ..self }
    }
}

fn final_refusal(refusal: StorePictureRefusal) -> UploadRefusal {
    match refusal {
        // What was put a moment ago is known to the transaction that notes it.
        StorePictureRefusal::Unknown | StorePictureRefusal::NoAccount => UploadRefusal::NoAccount,
        StorePictureRefusal::TooManyUploads => UploadRefusal::TooManyUploads,
    }
}
