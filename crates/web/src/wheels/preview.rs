//! What other apps show of a wheel.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_games::WheelId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<WheelId>().map_err(|_| Code::NotFound)?;
    let book = app.wheel_book().await?;
    let wheel = book.wheel(id).filter(|wheel| wheel.was_open(app.now())).ok_or(Code::NotFound)?;
    Ok(Preview { title: wheel.name.clone(), ..Preview::default() })
}
