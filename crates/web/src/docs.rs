//! The contract as OpenAPI 3.1, and a page to browse it, both from the binary itself.

use crate::error::{ApiError, Code};
use crate::etag;
use crate::fallback::RouteTable;
use crate::parameters::Parameters;
use crate::problem::{self, Problem, ProblemPart};
use crate::routes;
use crate::sandbox;
use crate::shell::Shell;
use actix_web::HttpResponse;
use actix_web::http::{Method, header};
use actix_web::web::{self, Data, ServiceConfig};
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, OpenApi, Paths, Ref, RefOr, Required, ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};
use utoipa_actix_web::AppExt;
use utoipa_swagger_ui::Config;

const DOCUMENT: &str = "/api/openapi.json";
const PAGE: &str = "/api/docs";

/// The paths that stand beside the document's. All answer GET.
const OTHERS: [&str; 9] = [
    "/",
    DOCUMENT,
    PAGE,
    "/api/docs/{file}*",
    "/healthz",
    "/readyz",
    "/metrics",
    "/problems/{code}",
    "/favicon.ico",
];

/// The page, with addresses that hold wherever a browser thinks it is.
const INDEX: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Terrace API</title>
<link rel="stylesheet" href="/api/docs/swagger-ui.css">
<link rel="stylesheet" href="/api/docs/index.css">
<link rel="icon" type="image/png" href="/api/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script>
<script src="/api/docs/swagger-ui-standalone-preset.js"></script>
<script src="/api/docs/swagger-initializer.js"></script>
</body>
</html>
"#;

/// The contract as it is served, made once from the handlers.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) json: Bytes,
    pub(crate) table: RouteTable,
    pub(crate) parameters: Parameters,
    tag: etag::Tag,
}

impl Document {
    pub(crate) fn build() -> Self {
        Self::of(&openapi())
    }

    pub(crate) fn of(document: &OpenApi) -> Self {
        let json = Bytes::from(document.to_json().unwrap_or_default());
        let tag = etag::Tag::of(None, &json);
        let table = RouteTable::new(document, &OTHERS).and(sandbox::PAGE, &[Method::GET, Method::POST]);
        Self { json, table, parameters: Parameters::new(document), tag }
    }
}

/// The OpenAPI document of the service.
pub fn openapi() -> OpenApi {
    let (_, document) = actix_web::App::new()
        .into_utoipa_app()
        .openapi(preamble())
        .configure(routes::routes)
        .split_for_parts();
    with_problems(document)
}

/// What the handlers do not say themselves.
fn preamble() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Terrace")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "The fan engagement service. Failures are problem documents (RFC 9457): see the schema `Problem`.",
        ))
        .build();
    let mut document = OpenApi::new(info, Paths::new());
    let cookie = ApiKey::Cookie(ApiKeyValue::with_description(
        "session",
        "The browser's session; `__Host-session` under an https public URL.",
    ));
    let mut cron = Http::new(HttpAuthScheme::Bearer);
    cron.description = Some("The operator's cron secret.".to_owned());
    let components = ComponentsBuilder::new()
        .schema(Problem::name(), Problem::schema())
        .schema(ProblemPart::name(), ProblemPart::schema())
        .security_scheme("cookie", SecurityScheme::ApiKey(cookie))
        .security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("cron", SecurityScheme::Http(cron))
        .build();
    document.components = Some(components);
    document
}

/// Every operation can fail, and always in the one shape.
fn with_problems(mut document: OpenApi) -> OpenApi {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
    let problem = ResponseBuilder::new()
        .description("Why the request was not done.")
        .content(problem::MEDIA_TYPE, content)
        .build();
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            // No operation takes a body that may be left out.
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                body.required = Some(Required::True);
            }
            operation.responses.responses.entry("default".to_owned()).or_insert(problem.clone().into());
        }
    }
    document
}

pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .route("/", web::get().to(front_door))
        .route(DOCUMENT, web::get().to(document))
        .route(PAGE, web::get().to(index))
        .route("/api/docs/{file:.*}", web::get().to(file));
}

/// Whoever opens the address in a browser finds what there is to be browsed.
async fn front_door() -> HttpResponse {
    HttpResponse::Found().insert_header((header::LOCATION, PAGE)).finish()
}

async fn document(shell: Data<Shell>) -> HttpResponse {
    etag::tagged(false, &shell.document.tag, "application/json", shell.document.json.clone())
}

async fn index() -> HttpResponse {
    let body = Bytes::from_static(INDEX.as_bytes());
    etag::conditional_bytes(None, "text/html; charset=utf-8", body)
}

async fn file(name: web::Path<String>) -> Result<HttpResponse, ApiError> {
    let name = name.into_inner();
    if name.is_empty() || name == "index.html" {
        return Ok(index().await);
    }
    // The badge would ask a validator elsewhere about the document.
    let config = Arc::new(Config::from(DOCUMENT).validator_url("none"));
    let file = utoipa_swagger_ui::serve(&name, config).map_err(ApiError::internal)?.ok_or(Code::NotFound)?;
    let body = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    // The files change with the binary only, so that its version and their length tell them apart.
    let tag = format!("{}-{}-{}", env!("CARGO_PKG_VERSION"), name.replace(['"', '\\'], ""), body.len());
    Ok(etag::tagged(false, &etag::Tag::new(&tag), content_type(&name), body))
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_names_the_problem_document() {
        let document = serde_json::to_value(openapi()).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        assert!(document["components"]["schemas"]["Problem"]["properties"]["requestId"].is_object());
        assert!(document["components"]["schemas"]["ProblemPart"].is_object());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let content = &operation["responses"]["default"]["content"]["application/problem+json"];
                assert_eq!(content["schema"]["$ref"], "#/components/schemas/Problem", "{method} {path}");
            }
        }
    }
}
