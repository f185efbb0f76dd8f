//! What other apps show of a round.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_app::trivia::ReadRound;
use terrace_games::RoundId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let round = id.parse::<RoundId>().map_err(|_| Code::NotFound)?;
    let found = app.query(ReadRound { round, reader: None }).await?;
    Ok(Preview { title: found.view.round.title, ..Preview::default() })
}
