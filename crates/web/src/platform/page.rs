//! Parameters and cursors that all lists share: `limit`, `cursor`, `nextCursor`.

use crate::cursor;
use crate::cursor::CursorKey;
use crate::error::{ApiError, Invalid};
use serde::Deserialize;
use terrace_app::App;
use terrace_kernel::Limit;
use utoipa::IntoParams;

/// The parameters of every list.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// The requested page of a list.
pub(crate) struct PageRequest<K> {
    /// Maximum number of rows.
    pub(crate) limit: Limit,
    /// Key of the row after which the page starts.
    pub(crate) after: Option<K>,
}

/// Validates `limit` and `cursor`. A cursor of another list, or of the same list under another filter, is
/// refused.
pub(crate) fn asked<K: CursorKey>(
    app: &App,
    limit: Option<i64>,
    cursor: Option<&str>,
    list: &'static str,
    filter: &str,
) -> Result<PageRequest<K>, ApiError> {
    let limit = match limit {
        None => Limit::default(),
        Some(rows) => Limit::new(rows).map_err(|error| Invalid::at("/limit", error.to_string()))?,
    };
    let after = cursor.map(|text| cursor::decode(app.cursors(), list, filter, text)).transpose()?;
    Ok(PageRequest { limit, after })
}

impl PageQuery {
    /// The requested page; see [`asked`].
    pub(crate) fn asked<K: CursorKey>(
        &self,
        app: &App,
        list: &'static str,
        filter: &str,
    ) -> Result<PageRequest<K>, ApiError> {
        asked(app, self.limit, self.cursor.as_deref(), list, filter)
    }
}

pub(crate) fn next_cursor<K: CursorKey>(
    app: &App,
    next: Option<&K>,
    list: &'static str,
    filter: &str,
) -> Option<String> {
    next.map(|key| cursor::encode(app.cursors(), list, filter, key))
}
