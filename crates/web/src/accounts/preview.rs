//! What other apps show of a fan.

use crate::dto::media_url;
use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_app::accounts::GetPublicProfile;
use terrace_app::search::FindUser;
use terrace_identity::Username;

pub(crate) async fn preview(app: &App, username: &str) -> Result<Preview, ApiError> {
    let username = Username::parse(username).map_err(|_| Code::NotFound)?;
    let user = app.query(FindUser { username }).await?;
    let profile = app.query(GetPublicProfile { user, reader: None }).await?.profile;
    Ok(Preview {
        title: profile.card.display_name,
        description: profile.bio,
        image_url: profile.card.picture.as_ref().map(media_url),
    })
}
