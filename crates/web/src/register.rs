//! Where areas register their routes.

use actix_web::Route;
use actix_web::dev::HttpServiceFactory;
use actix_web::web::ServiceConfig;
use utoipa::openapi::{Components, OpenApi};
use utoipa_actix_web::OpenApiFactory;

/// The same functions register handlers with a worker and describe them in the document. A worker does not describe them: the
/// descriptions of all schemas take longer than everything else that it does before its first request.
pub(crate) enum Routes<'r> {
    /// Registers the handlers with a worker.
    Serve(&'r mut ServiceConfig),
    /// Adds the operations and their schemas to the document.
    Describe(&'r mut OpenApi),
}

impl Routes<'_> {
    pub(crate) fn service<F>(&mut self, factory: F) -> &mut Self
    where
        F: HttpServiceFactory + OpenApiFactory + 'static,
    {
        match self {
            Self::Serve(config) => {
                config.service(factory);
            }
            Self::Describe(document) => {
                document.paths.merge(factory.paths());
                let mut schemas = Vec::new();
                factory.schemas(&mut schemas);
                document.components.get_or_insert_with(Components::new).schemas.extend(schemas);
            }
        }
        self
    }

    /// A route that the document does not describe.
    pub(crate) fn route(&mut self, path: &str, route: Route) -> &mut Self {
        if let Self::Serve(config) = self {
            config.route(path, route);
        }
        self
    }
}
