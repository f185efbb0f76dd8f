//! Uploads of pictures.

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
use terrace_kernel::{Failure, MediaHash, MediaId, Outcome, StoreError, UserId, num};

/// Maximum width and height of a profile picture in pixels.
const PROFILE_SIDE: u32 = 512;
/// Maximum width and height of a post's picture in pixels.
const POST_SIDE: u32 = 2048;

/// An uploaded picture file.
#[derive(Debug, Clone)]
pub struct PictureUpload {
    /// The uploader.
    pub user: UserId,
    /// The declared type.
    pub kind: ImageType,
    /// The file's content.
    pub file: Bytes,
}

/// Why an upload was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadRefusal {
    /// The file is not a picture of the declared type, or exceeds the limits.
    NotAnImage(NotAnImage),
    /// The queue of pictures to render is full.
    Busy,
    /// The account was deleted or suspended.
    NoAccount,
    /// The account's uploads without a post have reached their quota.
    TooManyUploads,
}

/// An uploaded picture without a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uploaded {
    /// The id by which a post refers to the upload.
    pub id: MediaId,
    /// The hash under which the picture is served.
    pub hash: MediaHash,
}

impl App {
    /// Sets the file as the user's profile picture.
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

    /// Stores the file for a post that its uploader will create.
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
                // A panic in a decoder is most likely caused by a damaged file.
                log::error!("rendering a picture: {error}");
                let reason = NotAnImage("the picture cannot be decoded");
                Err(Failure::Refused(UploadRefusal::NotAnImage(reason)))
            }
        }
    }

    /// Stores a picture's object before any row refers to it. A crash after this leaves an object that the sweep
    /// removes.
    async fn put(&self, rendered: Rendered, uploader: UserId) -> Result<StorePicture, StoreError> {
        let object = ObjectKey { hash: rendered.hash, id: self.seed().open().new_id() };
        let Rendered { bytes, kind, width, height, .. } = rendered;
        let size = num::to_u64(bytes.len());
        self.media.put(object, bytes).await?;
        Ok(StorePicture::Put(NewMedia { object, kind, size, width, height, uploader }))
    }

    /// Sets the store for pictures.
    #[must_use]
    pub fn with_media(self, media: Arc<dyn MediaStore>) -> Self {
        Self { media, ..self }
    }
}

fn final_refusal(refusal: StorePictureRefusal) -> UploadRefusal {
    match refusal {
        // `Unknown` cannot occur for a picture that was just stored.
        StorePictureRefusal::Unknown | StorePictureRefusal::NoAccount => UploadRefusal::NoAccount,
        StorePictureRefusal::TooManyUploads => UploadRefusal::TooManyUploads,
    }
}
