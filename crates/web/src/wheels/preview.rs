//! What other apps show of a wheel.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_games::WheelId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<WheelId>().map_err(|_| Code::NotFound)?;
    let (book, now) = (app.wheel_book().await?, app.now());
    let wheel = book.wheel(id).filter(|wheel| wheel.opens_at.is_none_or(|opens| opens <= now));
    let wheel = wheel.ok_or(Code::NotFound)?;
    Ok(Preview { title: wheel.name.clone(), ..Preview::default() })
}
