//! Where areas register their routes.

use actix_web::Route;
use actix_web::dev::HttpServiceFactory;
use actix_web::web::ServiceConfig;
use utoipa::openapi::{Components, OpenApi};
use utoipa_actix_web::OpenApiFactory;

/// The same functions register handlers with a worker and describe them in the document. A worker does not describe them: the
/// descriptions of all schemas take longer than everything else that it does before its first request.
pub(crate) enum Routes<'r> {
    /// Registers with a worker the handlers whose paths have parameters, or those of all other paths.
    Serve { config: &'r mut ServiceConfig, with_parameters: bool },
    /// Adds the operations and their schemas to the document.
    Describe(&'r mut OpenApi),
}

impl Routes<'_> {
    /// Registers all handlers with a worker. The router tries one path after another, and matches a path with parameters
    /// by a regular expression. Those come last, so that a request for another path pays for none of them.
    pub(crate) fn serve(config: &mut ServiceConfig, routes: fn(&mut Routes<'_>)) {
        for with_parameters in [false, true] {
            routes(&mut Routes::Serve { config, with_parameters });
        }
    }

    pub(crate) fn service<F>(&mut self, factory: F) -> &mut Self
    where
        F: HttpServiceFactory + OpenApiFactory + utoipa::Path + 'static,
    {
        match self {
            Self::Serve { config, with_parameters } => {
                if has_parameters(&F::path()) == *with_parameters {
                    config.service(factory);
                }
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
        if let Self::Serve { config, with_parameters } = self
            && has_parameters(path) == *with_parameters
        {
            config.route(path, route);
        }
        self
    }
}

fn has_parameters(path: &str) -> bool {
    path.contains('{')
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::{TestRequest, call_and_read_body, init_service};
    use actix_web::{App, web};

    #[actix_web::test]
    async fn a_path_without_parameters_is_tried_before_those_with_them() {
        let routes = |routes: &mut Routes<'_>| {
            routes
                .route("/posts/{id}", web::to(async || "a post"))
                .route("/posts/newest", web::to(async || "the newest"));
        };
        let app = init_service(App::new().configure(|config| Routes::serve(config, routes))).await;
        for (path, answer) in [("/posts/newest", "the newest"), ("/posts/7", "a post")] {
            let request = TestRequest::get().uri(path).to_request();
            assert_eq!(call_and_read_body(&app, request).await, answer);
        }
    }
}
