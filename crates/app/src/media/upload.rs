//! Uploads of pictures.

use crate::App;
use crate::accounts::OwnProfile;
use crate::media::render::{Bounds, Rendered, WithThumbnail, render, render_painting};
use crate::media::{
    ImageType, MediaStore, NewMedia, NotAnImage, ObjectKey, SetPicture, StorePicture, StorePictureRefusal,
    UploadMedia,
};
use crate::once::{Answered, KeyedRequest, OnceRefusal};
use crate::platform::NotDone;
use crate::store::StoredAnswer;
use bytes::Bytes;
use std::sync::Arc;
use terrace_art::Painting;
use terrace_kernel::{Failure, MediaHash, MediaId, Outcome, StoreError, UserId, Uuid, num};

/// Maximum width and height of a profile picture in pixels.
const PROFILE_SIDE: u32 = 512;
/// Maximum width and height of a post's picture in pixels.
const POST_SIDE: u32 = 2048;
/// Limits for the thumbnail of a post's picture.
const THUMBNAIL: Bounds = Bounds { side: 640, bytes: 256 * 1024 };

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
        let rendered = self.render(upload, PROFILE_SIDE, None).await?;
        let known = SetPicture { user, picture: rendered.known() };
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
        let rendered = self
            .render(upload, POST_SIDE, Some(THUMBNAIL))
            .await
            .map_err(|failure| failure.map(OnceRefusal::Refused))?;
        let (life, quota) = (self.config.upload_life, self.config.upload_quota);
        let known = UploadMedia { user, picture: rendered.known(), life, quota };
        match self.execute_once(known, request.clone(), answer).await {
            Err(Failure::Refused(OnceRefusal::Refused(StorePictureRefusal::Unknown))) => {}
            outcome => return outcome.map_err(refused),
        }
        let picture = self.put(rendered, user).await?;
        self.execute_once(UploadMedia { user, picture, life, quota }, request, answer).await.map_err(refused)
    }

    async fn render(
        &self,
        upload: PictureUpload,
        side: u32,
        thumbnail: Option<Bounds>,
    ) -> Outcome<WithThumbnail, UploadRefusal> {
        let PictureUpload { kind, file, .. } = upload;
        let bounds = Bounds { side, bytes: self.config.stored_picture_limit };
        match self.renderers.run(move || render(kind, &file, bounds, thumbnail)).await {
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

    /// Renders a painting as a picture of a post or, without a thumbnail, of a profile, and stores its objects. The
    /// caller sets the account that refers to it, with [`StorePicture::of`].
    pub(crate) async fn put_painting(
        &self,
        painting: Painting,
        has_thumbnail: bool,
    ) -> Result<StorePicture, StoreError> {
        let (limit, thumbnail) = (self.config.stored_picture_limit, has_thumbnail.then_some(THUMBNAIL));
        let rendered = match self.renderers.run(move || render_painting(painting, limit, thumbnail)).await {
            Ok(rendered) => rendered.map_err(|error| StoreError::defect("render a painting", error))?,
            Err(NotDone::Busy) => {
                return Err(StoreError::Unavailable("too many pictures to render".to_owned()));
            }
            Err(NotDone::Panicked(error)) => return Err(StoreError::defect("render a painting", error)),
        };
        self.put(rendered, UserId::from_uuid(Uuid::nil())).await
    }

    /// Stores the objects of a picture and its thumbnail before any row refers to them. A crash after this leaves
    /// objects that the sweep removes.
    async fn put(&self, rendered: WithThumbnail, uploader: UserId) -> Result<StorePicture, StoreError> {
        let WithThumbnail { whole, thumbnail } = rendered;
        let thumbnail = match thumbnail {
            Some(thumbnail) => Some(self.put_object(thumbnail, None, uploader).await?),
            None => None,
        };
        let hash = thumbnail.as_ref().map(|thumbnail| thumbnail.object.hash);
        Ok(StorePicture::Put(self.put_object(whole, hash, uploader).await?, thumbnail))
    }

    async fn put_object(
        &self,
        rendered: Rendered,
        thumbnail: Option<MediaHash>,
        uploader: UserId,
    ) -> Result<NewMedia, StoreError> {
        let object = ObjectKey { hash: rendered.hash, id: self.seed().open().new_id() };
        let Rendered { bytes, kind, width, height, .. } = rendered;
        let size = num::to_u64(bytes.len());
        self.media.put(object, bytes).await?;
        Ok(NewMedia { object, kind, size, width, height, thumbnail, uploader })
    }

    /// Sets the store for pictures.
    #[must_use]
    pub fn with_media(self, media: Arc<dyn MediaStore>) -> Self {
        Self { media, ..self }
    }
}

impl WithThumbnail {
    /// The picture as one that may already be recorded.
    fn known(&self) -> StorePicture {
        StorePicture::Known(self.whole.hash, self.thumbnail.as_ref().map(|thumbnail| thumbnail.hash))
    }
}

fn final_refusal(refusal: StorePictureRefusal) -> UploadRefusal {
    match refusal {
        // `Unknown` cannot occur for a picture that was just stored.
        StorePictureRefusal::Unknown | StorePictureRefusal::NoAccount => UploadRefusal::NoAccount,
        StorePictureRefusal::TooManyUploads => UploadRefusal::TooManyUploads,
    }
}
