//! What other apps show of a team.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_app::teams::GetTeam;
use terrace_kernel::TeamId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let team = app.query(GetTeam { team: id.parse::<TeamId>().map_err(|_| Code::NotFound)? }).await?;
    Ok(Preview { title: team.name, image_url: team.crest_url, ..Preview::default() })
}
