//! Serves the OpenAPI document and the page to browse it, both embedded in the binary.

use crate::client;
use crate::edge::{Contract, Parameters, RouteTable, Shell, constant, etag};
use crate::error::{ApiError, Code};
use crate::payments::sandbox;
use actix_web::http::Method;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use utoipa::openapi::OpenApi;
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
    /// The document that this program serves, which all services of a process share.
    pub(crate) fn of_this_version() -> Arc<Self> {
        static DOCUMENT: LazyLock<Arc<Document>> =
            LazyLock::new(|| Arc::new(Document::of(&crate::openapi())));
        Arc::clone(&DOCUMENT)
    }

    pub(crate) fn of(document: &OpenApi) -> Self {
        let json = Bytes::from(document.to_json().unwrap_or_default());
        let tag = etag::Tag::of(None, &json);
        let table = RouteTable::new(document, &OTHERS).and(sandbox::PAGE, &[Method::GET, Method::POST]);
        let table = client::add_paths(table);
        Self { json, contract: Contract { table, parameters: Parameters::new(document) }, tag }
    }
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
}
