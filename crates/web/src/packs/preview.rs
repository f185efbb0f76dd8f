//! What other apps show of a pack.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_packs::PackId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<PackId>().map_err(|_| Code::NotFound)?;
    let book = app.pack_book().await?;
    let pack = book.pack(id).filter(|pack| pack.was_on_sale(app.now())).ok_or(Code::NotFound)?;
    Ok(Preview {
        title: pack.name.clone(),
        description: pack.description.clone(),
        image_url: pack.image_url.clone(),
    })
}
