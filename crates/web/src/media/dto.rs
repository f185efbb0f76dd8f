//! Uploaded pictures.

use crate::dto::media_url;
use serde::Serialize;
use terrace_app::media::Uploaded;
use utoipa::ToSchema;
use uuid::Uuid;

/// A picture that waits for a post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UploadedMedia {
    /// What the post names it by: once, within a day.
    media_id: Uuid,
    /// Where it is seen meanwhile, and afterwards.
    #[schema(example = "/media/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    url: String,
}

impl From<&Uploaded> for UploadedMedia {
    fn from(uploaded: &Uploaded) -> Self {
        Self { media_id: uploaded.id.as_uuid(), url: media_url(&uploaded.hash) }
    }
}
