//! Uploaded pictures.

use crate::dto::media_url;
use serde::Serialize;
use terrace_app::media::Uploaded;
use utoipa::ToSchema;
use uuid::Uuid;

/// An uploaded picture that is not attached to a post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadedMedia {
    /// The id for attaching the picture to one post, within a day.
    media_id: Uuid,
    /// The URL of the picture, before and after it is attached.
    #[schema(example = "/media/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    url: String,
}

impl From<&Uploaded> for UploadedMedia {
    fn from(uploaded: &Uploaded) -> Self {
        Self { media_id: uploaded.id.as_uuid(), url: media_url(&uploaded.hash) }
    }
}
