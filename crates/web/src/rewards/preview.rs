//! What other apps show of a reward.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_rewards::RewardId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<RewardId>().map_err(|_| Code::NotFound)?;
    let book = app.reward_book().await?;
    let reward = book.reward(id).filter(|reward| reward.was_open(app.now())).ok_or(Code::NotFound)?;
    Ok(Preview {
        title: reward.name.clone(),
        description: reward.description.clone(),
        image_url: reward.image_url.clone(),
    })
}
