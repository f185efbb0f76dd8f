//! The lists in the export of an account. Each area declares its own in its `export.rs`; the root of the crate lists the
//! areas in the order of the document.

use crate::error::{ApiError, Code};
use actix_web::web::Data;
use futures_util::stream::{self, LocalBoxStream, StreamExt};
use serde::Serialize;
use terrace_app::App;
use terrace_app::accounts::{ExportList, NotFound, ReadExport};
use terrace_identity::Viewer;
use terrace_kernel::{Failure, Page};
use utoipa::ToSchema;
use utoipa::openapi::{ArrayBuilder, Ref, RefOr, Schema};

/// Schemas of the document with their names.
pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

/// The rows of a list, page by page: the JSON of the rows of a page, separated by commas.
pub(crate) type Pages = LocalBoxStream<'static, Result<String, ApiError>>;

/// A list in the export of an account.
pub(crate) struct ExportPart {
    pub(crate) name: &'static str,
    description: &'static str,
    pub(crate) pages: fn(Data<App>, Viewer) -> Pages,
    element: fn() -> Ref,
    /// Adds the schemas of the elements.
    pub(crate) schemas: fn(&mut Schemas),
}

impl ExportPart {
    /// A list of elements of type `T`.
    pub(crate) const fn of<T: ToSchema>(
        name: &'static str,
        description: &'static str,
        pages: fn(Data<App>, Viewer) -> Pages,
    ) -> Self {
        let element = || Ref::from_schema_name(T::name());
        let schemas = |schemas: &mut Schemas| {
            schemas.push((T::name().into_owned(), T::schema()));
            T::schemas(schemas);
        };
        Self { name, description, pages, element, schemas }
    }

    /// The schema of the list.
    pub(crate) fn schema(&self) -> ArrayBuilder {
        ArrayBuilder::new().items((self.element)()).description(Some(self.description))
    }
}

/// Reads a list page by page and converts its rows to elements of type `D`. Ends after an error.
pub(crate) fn pages<D, T, K>(app: Data<App>, viewer: Viewer, list: ExportList<T, K>) -> Pages
where
    D: Serialize + for<'r> From<&'r T>,
    T: Send + 'static,
    K: Clone + Send + 'static,
{
    pages_with(app, viewer, list, |row| D::from(row))
}

/// Reads a list page by page and converts its rows. Ends after an error.
pub(crate) fn pages_with<D, T, K>(
    app: Data<App>,
    viewer: Viewer,
    list: ExportList<T, K>,
    element: impl Fn(&T) -> D + Clone + 'static,
) -> Pages
where
    D: Serialize,
    T: Send + 'static,
    K: Clone + Send + 'static,
{
    let page = move |after: Option<Option<K>>| {
        let (app, element) = (app.clone(), element.clone());
        async move {
            let Some(after) = after else { return Ok(None) };
            let asked = ReadExport { user: viewer.user_id, list, after };
            let Page { items, next } = app.query(asked).await.map_err(gone)?;
            let elements: serde_json::Result<Vec<String>> =
                items.iter().map(|row| serde_json::to_string(&element(row))).collect();
            Ok(Some((elements.map_err(ApiError::internal)?.join(","), next.map(Some))))
        }
    };
    stream::try_unfold(Some(None), page).boxed_local()
}

/// The account was deleted or suspended after its session was checked.
pub(crate) fn gone(failure: Failure<NotFound>) -> ApiError {
    match failure {
        Failure::Refused(NotFound) => Code::AuthenticationRequired.into(),
        Failure::Broken(error) => error.into(),
    }
}
