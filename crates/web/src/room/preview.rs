//! What other apps show of a post.

use crate::dto::media_url;
use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_app::room::GetPost;
use terrace_kernel::PostId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let post = id.parse::<PostId>().map_err(|_| Code::NotFound)?;
    let view = app.query(GetPost { post, reader: None }).await?;
    let picture = view.post.image.as_ref().map(|image| &image.hash).or(view.author.picture.as_ref());
    Ok(Preview {
        title: view.author.display_name.clone(),
        description: view.post.body.clone(),
        image_url: picture.map(media_url),
    })
}
