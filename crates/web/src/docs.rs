//! The OpenAPI 3.1 document and the page to browse it, both embedded in the binary.

use crate::client;
use crate::edge::{Contract, Parameters, RouteTable, Shell, constant, etag};
use crate::error::{ApiError, Code};
use crate::payments::sandbox;
use crate::problem;
use crate::problem::{Problem, ProblemPart};
use actix_web::http::Method;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Components, ComponentsBuilder, ContentBuilder, InfoBuilder, OpenApi, Paths, Ref, RefOr, Required,
    ResponseBuilder, Schema,
};
use utoipa::{PartialSchema, ToSchema};
use utoipa_actix_web::AppExt;
use utoipa_swagger_ui::Config;

const DOCUMENT: &str = "/api/openapi.json";
const PAGE: &str = "/api/docs";

/// Paths that are not in the document. All answer GET.
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

/// The page, with absolute paths, so that they work with and without a trailing slash.
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

/// The served document, generated once from the handlers.
pub(crate) struct Document {
    json: Bytes,
    pub(crate) contract: Contract,
    tag: etag::Tag,
}

impl Document {
    pub(crate) fn of(document: &OpenApi) -> Self {
        let json = Bytes::from(document.to_json().unwrap_or_default());
        let tag = etag::Tag::of(None, &json);
        let table = RouteTable::new(document, &OTHERS).and(sandbox::PAGE, &[Method::GET, Method::POST]);
        let table = client::add_paths(table);
        Self { json, contract: Contract { table, parameters: Parameters::new(document) }, tag }
    }
}

/// The OpenAPI document of the service.
pub fn openapi() -> OpenApi {
    let (_, mut document) = actix_web::App::new()
        .into_utoipa_app()
        .openapi(preamble())
        .configure(crate::routes)
        .split_for_parts();
    crate::streams::add_events(&mut document);
    with_problems(document)
}

/// The parts of the document that the handlers do not declare.
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

/// Adds the problem response, in the one common format, to every operation.
fn with_problems(mut document: OpenApi) -> OpenApi {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
    let problem = ResponseBuilder::new()
        .description("Why the request was not done.")
        .content(problem::MEDIA_TYPE, content)
        .build();
    let components = document.components.as_ref();
    for item in document.paths.paths.values_mut() {
        if let Some(RefOr::T(body)) = item.post.as_mut().and_then(|post| post.request_body.as_mut())
            && components.is_some_and(|components| may_be_absent(body, components))
        {
            body.required = Some(Required::False);
        }
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            // Every other operation with a body requires it.
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && body.required != Some(Required::False)
            {
                body.required = Some(Required::True);
            }
            operation.responses.responses.entry("default".to_owned()).or_insert(problem.clone().into());
        }
    }
    document
}

/// Whether `{}` is a valid body. The handlers of such POST routes take an `OptionalBody`.
fn may_be_absent(body: &RequestBody, components: &Components) -> bool {
    let Some(RefOr::T(json)) = body.content.get("application/json") else { return false };
    let Some(RefOr::Ref(schema)) = &json.schema else { return false };
    let name = schema.ref_location.rsplit('/').next().unwrap_or_default();
    let Some(RefOr::T(Schema::Object(schema))) = components.schemas.get(name) else { return false };
    schema.required.is_empty() && schema.min_properties.is_none()
}

pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .route(DOCUMENT, web::get().to(document))
        .route(PAGE, web::get().to(index))
        .route("/api/docs/{file:.*}", web::get().to(file));
}

async fn document(
    req: HttpRequest,
    document: Data<Document>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    constant(&req, &shell, DOCUMENT, &document.tag, "application/json", document.json.clone()).await
}

async fn index() -> HttpResponse {
    let body = Bytes::from_static(INDEX.as_bytes());
    etag::conditional_bytes(None, "text/html; charset=utf-8", body)
}

async fn file(
    req: HttpRequest,
    name: web::Path<String>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    let name = name.into_inner();
    if name.is_empty() || name == "index.html" {
        return Ok(index().await);
    }
    // The validator badge would send the document to an external service.
    let config = Arc::new(Config::from(DOCUMENT).validator_url("none"));
    let file = utoipa_swagger_ui::serve(&name, config).map_err(ApiError::internal)?.ok_or(Code::NotFound)?;
    let body = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    };
    // The files change only with the binary, so version and length identify their content.
    let tag = format!("{}-{}-{}", env!("CARGO_PKG_VERSION"), name.replace(['"', '\\'], ""), body.len());
    constant(&req, &shell, &name, &etag::Tag::new(&tag), content_type(&name), body).await
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
    use crate::edge::LimitConfig;
    use crate::edge::WebConfig;
    use crate::test_support::{FakeBackend, service};
    use actix_web::test::{TestRequest, init_service, read_body, try_call_service};

    #[actix_web::test]
    async fn constant_responses_are_compressed_once_in_each_coding() {
        let config = WebConfig { limits: LimitConfig::off(), ..WebConfig::default() };
        let service = service(Arc::new(FakeBackend::new(false)), config, |_| {});
        let shell = service.shell.clone();
        let service = init_service(service.build()).await;
        let mut runs = 0;
        for path in ["/api/docs/swagger-ui-bundle.js", "/api/docs/swagger-ui.css", DOCUMENT] {
            let mut sizes = Vec::new();
            for (coding, costs) in [("identity", 0), ("gzip", 1), ("br", 1), ("deflate", 1)] {
                runs += costs;
                let mut bodies = Vec::new();
                for _ in 0..3 {
                    let req = TestRequest::get().uri(path).insert_header(("accept-encoding", coding));
                    let res = try_call_service(&service, req.to_request()).await.unwrap();
                    assert_eq!(res.status(), 200, "{path}");
                    let said = res.headers().get("content-encoding").cloned();
                    assert_eq!(said.is_some_and(|said| said == coding), costs == 1, "{path} {coding}");
                    let tag = res.headers().get("etag").unwrap().clone();
                    assert_eq!(tag.to_str().unwrap().ends_with(&format!("-{coding}\"")), costs == 1);
                    let again = TestRequest::get().uri(path).insert_header(("accept-encoding", coding));
                    let again = again.insert_header(("if-none-match", tag)).to_request();
                    assert_eq!(try_call_service(&service, again).await.unwrap().status(), 304);
                    bodies.push(read_body(res).await);
                    assert_eq!(shell.compressed.runs(), runs, "{path} {coding}");
                }
                bodies.dedup();
                assert_eq!(bodies.len(), 1);
                sizes.push(bodies[0].len());
            }
            let is_small = path == DOCUMENT;
            assert!(is_small || sizes[1..].iter().all(|size| size * 2 < sizes[0]), "{path}: {sizes:?}");
        }
        // A file that does not exist is not cached.
        let req = TestRequest::get().uri("/api/docs/nothing.js").insert_header(("accept-encoding", "br"));
        assert_eq!(try_call_service(&service, req.to_request()).await.unwrap().status(), 404);
        assert_eq!(shell.compressed.runs(), runs);
    }

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
