//! What other apps show of a quest.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_quests::QuestId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<QuestId>().map_err(|_| Code::NotFound)?;
    let book = app.quest_book().await?;
    let quest = book.quest(id).filter(|quest| quest.was_open(app.now())).ok_or(Code::NotFound)?;
    Ok(Preview { title: quest.title.clone(), description: quest.description.clone(), image_url: None })
}
