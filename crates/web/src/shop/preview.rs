//! What other apps show of a product.

use crate::error::{ApiError, Code};
use crate::preview::Preview;
use terrace_app::App;
use terrace_shop::ProductId;

pub(crate) async fn preview(app: &App, id: &str) -> Result<Preview, ApiError> {
    let id = id.parse::<ProductId>().map_err(|_| Code::NotFound)?;
    let book = app.product_book().await?;
    let product = book.product(id).filter(|product| product.was_on_sale(app.now())).ok_or(Code::NotFound)?;
    Ok(Preview {
        title: product.name.clone(),
        description: product.description.clone(),
        image_url: product.image_urls.first().cloned(),
    })
}
