//! The web client: its files, and its one page for navigations to the paths of its route table.

use crate::edge::{ErrorPage, RouteTable, Shell, Tag, constant, fallback, tagged};
use crate::error::{ApiError, Code};
use crate::platform::club_name;
use crate::preview::Site;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;
use terrace_app::App;
use terrace_client::{Asset, PageFiles};

/// The folder of the files with a digest in their names.
const ASSETS: &str = "/assets/{file}";

const POLICY: HeaderValue = HeaderValue::from_static(terrace_client::CONTENT_SECURITY_POLICY);
/// What the start of the client reads of a fan. The browser asks for it beside the scripts, not after they have run; it
/// takes the answer for a request of the same mode and credentials only.
const PROFILE: HeaderValue = HeaderValue::from_static("</api/user>; rel=preload; as=fetch; crossorigin");
const DESTINATION: &str = "sec-fetch-dest";
/// On what a page depends beside what every cacheable answer does.
const VARIES: HeaderValue = HeaderValue::from_static("Accept, Accept-Language, Sec-Fetch-Dest");
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// A file of the client, ready to be sent.
struct File {
    path: String,
    body: Bytes,
    content_type: &'static str,
    tag: Tag,
    is_immutable: bool,
}

impl From<Asset> for File {
    fn from(asset: Asset) -> Self {
        Self {
            path: format!("/{}", asset.name),
            body: match asset.body {
                Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                Cow::Owned(bytes) => Bytes::from(bytes),
            },
            content_type: asset.content_type,
            tag: Tag::new(asset.digest.get(..32).unwrap_or_default()),
            is_immutable: asset.is_immutable,
        }
    }
}

struct Client {
    /// The page for an address that does not exist.
    unknown: Option<File>,
    /// The page by the paths at which it is served.
    pages: HashMap<String, Page>,
    files: HashMap<String, File>,
}

/// The page of the client at a path. It names the files that are needed there, so that a browser loads them beside those of
/// the start.
struct Page {
    /// With the texts in each language.
    by_language: BTreeMap<String, File>,
    /// For a page that can lead to another one at once: its texts are not known before it runs.
    plain: File,
}

/// The language of the client for readers of none of its languages.
const DEFAULT_LANGUAGE: &str = "en";

impl Page {
    fn of(index: &Asset, path: &str, page: &PageFiles) -> Self {
        // The name identifies the page among those that are compressed.
        let with = |language: &str, texts: &[String]| {
            page_with(index, format!("{path} {language}"), page.files.iter().chain(texts))
        };
        let by_language =
            page.texts.iter().map(|(language, texts)| (language.clone(), with(language, texts)));
        Self { by_language: by_language.collect(), plain: with("", &[]) }
    }

    /// The page in the language that the client will choose: the first that it has of those that the browser names.
    fn for_reader(&self, headers: &HeaderMap) -> &File {
        let named = headers.get_all(header::ACCEPT_LANGUAGE).filter_map(|value| value.to_str().ok());
        let languages = named.flat_map(|value| value.split(',')).map(|range| {
            let language = range.split([';', '-']).next().unwrap_or_default();
            language.trim().to_ascii_lowercase()
        });
        let mut wanted = languages.chain([DEFAULT_LANGUAGE.to_owned()]);
        wanted.find_map(|language| self.by_language.get(&language)).unwrap_or(&self.plain)
    }
}

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let files = terrace_client::assets().into_iter().map(File::from);
    let index = terrace_client::index();
    let pages = index.iter().flat_map(|index| {
        terrace_client::routes().into_iter().map(|(path, files)| {
            let page = Page::of(index, &path, &files);
            (path, page)
        })
    });
    Client {
        pages: pages.collect(),
        files: files.map(|file| (file.path.clone(), file)).collect(),
        unknown: index.map(File::from),
    }
});

/// The page with links to these files. Those of the start are needed first: a browser sends few requests at once, and
/// sends styles before scripts unless their priority is low.
fn page_with<'f>(index: &Asset, path: String, files: impl Iterator<Item = &'f String>) -> File {
    let text = String::from_utf8_lossy(&index.body);
    let link = |relation: &str, name: &String| {
        format!("  <link rel=\"{relation}\" fetchpriority=\"low\" crossorigin href=\"/{name}\">\n  ")
    };
    let links = files.map(|name| match name.rsplit_once('.') {
        Some((_, "css")) => link("preload\" as=\"style", name),
        _ => link("modulepreload", name),
    });
    let body = Bytes::from(text.replacen("</head>", &format!("{}</head>", links.collect::<String>()), 1));
    File { path, tag: Tag::of(None, &body), body, content_type: index.content_type, is_immutable: false }
}

impl Client {
    /// The paths of the files outside the folder.
    fn root_files(&self) -> impl Iterator<Item = &str> {
        self.files.values().filter(|file| !file.is_immutable).map(|file| file.path.as_str())
    }
}

pub(crate) fn configure(config: &mut ServiceConfig) {
    config.route(ASSETS, web::get().to(file));
    for path in CLIENT.root_files() {
        config.route(path, web::get().to(file));
    }
    for route in CLIENT.pages.keys() {
        config.route(route, web::get().to(page));
    }
}

/// Adds the client's paths to those that exist.
pub(crate) fn add_paths(table: RouteTable) -> RouteTable {
    let routes = CLIENT.pages.keys().map(String::as_str).filter(|route| *route != "/");
    routes
        .chain(CLIENT.root_files())
        .chain([ASSETS])
        .fold(table, |table, path| table.and(path, &[Method::GET]))
}

/// Returns the page of the client to a navigation: a script that expects something else gets 404.
async fn page(
    req: HttpRequest,
    shell: Data<Shell>,
    app: Option<Data<App>>,
) -> Result<HttpResponse, ApiError> {
    let page = req.match_pattern().and_then(|path| CLIENT.pages.get(&path));
    let page = page.filter(|_| accepts_html(req.headers())).ok_or(Code::NotFound)?.for_reader(req.headers());
    let app = app.as_ref().map(Data::get_ref);
    let mut answer = match with_preview(&req, &shell, app, page).await {
        Some(answer) => answer,
        None => send(&req, &shell, page).await?,
    };
    let headers = answer.headers_mut();
    headers.append(header::VARY, VARIES);
    if is_document(req.headers()) && shell.has_session_cookie(&req) {
        headers.insert(header::LINK, PROFILE);
        // A browser revalidates without comparing cookies. With the tag of a guest's page it would keep the `Link` after the
        // session ended, and be refused the profile.
        if let Some(tag) = headers.get(header::ETAG).and_then(tag_for_fan) {
            headers.insert(header::ETAG, tag);
        }
    }
    Ok(answer)
}

fn tag_for_fan(tag: &HeaderValue) -> Option<HeaderValue> {
    let rest = tag.to_str().ok()?.strip_prefix('"')?;
    HeaderValue::from_str(&format!("\"fan-{rest}")).ok()
}

/// Whether a browser will show the answer. The service worker, which keeps the page for every reader, asks otherwise.
fn is_document(headers: &HeaderMap) -> bool {
    headers.get(DESTINATION).is_some_and(|destination| destination == "document")
}

/// The page with what other apps show of a link to it; `None` if it shows nothing with a name, or nothing that a guest may
/// read. The client, and not the service, tells the reader when something fails.
async fn with_preview(
    req: &HttpRequest,
    shell: &Shell,
    app: Option<&App>,
    page: &File,
) -> Option<HttpResponse> {
    let app = app?;
    let path = req.match_pattern()?;
    let (_, read) = crate::PREVIEWS.iter().find(|(known, _)| *known == path)?;
    let (_, parameter) = req.match_info().iter().next()?;
    shell.check_guest_read(req).ok()?;
    let preview = read(app, parameter).await.ok()?;
    let club = app.club().await.ok()?;
    let site = Site { name: club_name(&club, shell), url: shell.config().public_url.as_ref() };
    let text = std::str::from_utf8(&page.body).ok()?;
    let body = Bytes::from(preview.add_to(text, site, req.uri().path()));
    let mut answer = tagged(false, &Tag::of(None, &body), page.content_type, body);
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    Some(answer)
}

/// Handles every request that matches no route: a navigation to a path that does not exist gets the page of the client,
/// which helps the reader on, with the status 404.
pub(crate) async fn unmatched(req: HttpRequest, shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    let is_navigation = *req.method() == Method::GET
        && accepts_html(req.headers())
        && !req.path().starts_with("/api")
        && shell.contract.table.allowed(req.path()).is_none();
    let Some(page) = CLIENT.unknown.as_ref().filter(|_| is_navigation) else {
        return fallback::answer(req, shell).await;
    };
    let mut answer = send(&req, &shell, page).await?;
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer.extensions_mut().insert(ErrorPage);
    let headers = answer.headers_mut();
    headers.remove(header::ETAG);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.append(header::VARY, HeaderValue::from_static("Accept"));
    Ok(answer)
}

async fn file(req: HttpRequest, shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    let file = CLIENT.files.get(req.path()).ok_or(Code::NotFound)?;
    send(&req, &shell, file).await
}

async fn send(req: &HttpRequest, shell: &Shell, file: &File) -> Result<HttpResponse, ApiError> {
    let mut answer =
        constant(req, shell, &file.path, &file.tag, file.content_type, file.body.clone()).await?;
    if file.is_immutable {
        // Scripts and styles follow the policy of the page that loads them: theirs is the shorter one of every answer.
        answer.headers_mut().insert(header::CACHE_CONTROL, IMMUTABLE);
    } else {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    }
    Ok(answer)
}

/// Whether the request names HTML among what it accepts, as navigations of browsers do.
fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let (kind, parameters) = range.split_once(';').unwrap_or((range, ""));
        kind.trim().eq_ignore_ascii_case("text/html") && parameters.trim().replace(' ', "") != "q=0"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::{LimitConfig, WebConfig};
    use crate::test_support::{FakeBackend, service};
    use actix_web::test::{TestRequest, init_service, read_body, try_call_service};
    use std::sync::Arc;

    const NAVIGATION: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

    macro_rules! call {
        ($service:expr, $request:expr) => {{
            let res = try_call_service(&$service, $request.to_request()).await.unwrap();
            let header = |name: &str| {
                res.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
            };
            let found = (
                res.status(),
                header("content-type"),
                header("cache-control"),
                header("etag"),
                header("content-encoding"),
                header("content-security-policy"),
            );
            (found, read_body(res).await)
        }};
    }

    macro_rules! started {
        () => {{
            let config = WebConfig { limits: LimitConfig::off(), ..WebConfig::default() };
            init_service(service(Arc::new(FakeBackend::new(false)), config, |_| {}).build()).await
        }};
    }

    #[actix_web::test]
    async fn navigations_to_pages_get_the_client_and_nothing_else_does() {
        let service = started!();
        for path in ["/", "/room", "/room?scope=team", "/posts/7", "/sign-in"] {
            let ((status, kind, caching, tag, _, policy), body) =
                call!(service, TestRequest::get().uri(path).insert_header(NAVIGATION));
            assert_eq!((status, kind.as_str()), (StatusCode::OK, "text/html; charset=utf-8"), "{path}");
            assert_eq!((caching.as_str(), policy.as_str()), ("public, no-cache", POLICY.to_str().unwrap()));
            assert!(body.starts_with(b"<!doctype html>"));
            let again =
                TestRequest::get().uri(path).insert_header(NAVIGATION).insert_header(("if-none-match", tag));
            assert_eq!(call!(service, again).0.0, StatusCode::NOT_MODIFIED, "{path}");
        }
        for (path, accept) in [
            ("/room", "*/*"),
            ("/room", "text/html;q=0, */*"),
            ("/", "application/json"),
            ("/nowhere", "*/*"),
            ("/api/nowhere", "text/html"),
            ("/api", "text/html"),
            ("/index.html", "*/*"),
            ("/routes.json", "*/*"),
            ("/.inputs", "*/*"),
            ("/assets/none.js", "*/*"),
        ] {
            let ((status, kind, ..), _) =
                call!(service, TestRequest::get().uri(path).insert_header(("accept", accept)));
            assert_eq!(
                (status, kind.as_str()),
                (StatusCode::NOT_FOUND, "application/problem+json"),
                "{path}"
            );
        }
        for path in ["/nowhere", "/posts", "/index.html", "/.inputs"] {
            let ((status, kind, caching, tag, _, policy), body) =
                call!(service, TestRequest::get().uri(path).insert_header(NAVIGATION));
            assert_eq!(
                (status, kind.as_str()),
                (StatusCode::NOT_FOUND, "text/html; charset=utf-8"),
                "{path}"
            );
            assert_eq!((caching.as_str(), tag.as_str()), ("no-store", ""));
            assert_eq!(policy, POLICY.to_str().unwrap());
            assert!(body.starts_with(b"<!doctype html>"));
        }
        let ((status, kind, ..), _) =
            call!(service, TestRequest::post().uri("/nowhere").insert_header(NAVIGATION));
        assert_eq!((status, kind.as_str()), (StatusCode::NOT_FOUND, "application/problem+json"));
        let ((status, ..), _) = call!(service, TestRequest::post().uri("/room"));
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    }

    #[actix_web::test]
    async fn the_page_of_an_address_names_the_files_that_are_needed_there() {
        let service = started!();
        let page = async |path: &str| {
            let request = TestRequest::get().uri(path).insert_header(NAVIGATION);
            let (_, body) = call!(service, request);
            String::from_utf8(body.to_vec()).unwrap()
        };
        let start = page("/").await;
        assert_eq!(start, page("/nowhere").await);
        let room = page("/room?scope=team").await;
        assert_ne!(page("/posts/7").await, room);
        let (head, rest) = start.split_once("</head>").unwrap();
        let links =
            room.strip_prefix(head).unwrap().strip_suffix(rest).unwrap().strip_suffix("</head>").unwrap();
        let mut kinds = Vec::new();
        for link in links.lines().filter(|line| !line.trim().is_empty()) {
            let (relation, name) = link.trim().split_once(" crossorigin href=\"").unwrap();
            let name = name.strip_suffix("\">").unwrap();
            assert!(CLIENT.files.contains_key(name), "{name}");
            let expected = match name.rsplit_once('.') {
                Some((_, "js")) => "modulepreload\" fetchpriority=\"low\"",
                _ => "preload\" as=\"style\" fetchpriority=\"low\"",
            };
            assert_eq!(relation, format!("<link rel=\"{expected}"), "{name}");
            kinds.push(expected);
        }
        assert!(kinds.len() > 2 && kinds.iter().any(|kind| *kind != kinds[0]), "{links}");
    }

    #[actix_web::test]
    async fn a_document_of_a_fan_asks_for_the_profile_and_no_other_answer_does() {
        let service = started!();
        let fan = ("cookie", "session=any");
        let document = (DESTINATION, "document");
        for (path, headers, expected) in [
            ("/room", &[NAVIGATION, document, fan][..], Some(PROFILE)),
            ("/", &[NAVIGATION, document, fan], Some(PROFILE)),
            ("/room", &[NAVIGATION, document], None),
            ("/room", &[NAVIGATION, document, ("cookie", "other=any")], None),
            // The service worker.
            ("/", &[NAVIGATION, (DESTINATION, "empty"), fan], None),
            ("/room", &[NAVIGATION, fan], None),
            ("/nowhere", &[NAVIGATION, document, fan], None),
        ] {
            let request = headers
                .iter()
                .fold(TestRequest::get().uri(path), |request, header| request.insert_header(*header));
            let res = try_call_service(&service, request.to_request()).await.unwrap();
            assert_eq!(res.headers().get(header::LINK), expected.as_ref(), "{path} {headers:?}");
            let vary = res.headers().get_all(header::VARY).map(|value| value.to_str().unwrap());
            let vary = vary.collect::<Vec<_>>().join(", ");
            assert!(
                path == "/nowhere" || vary.contains("Cookie") && vary.contains("Sec-Fetch-Dest"),
                "{vary}"
            );
        }
    }

    #[actix_web::test]
    async fn a_page_of_a_fan_is_another_one_for_a_guest() {
        let service = started!();
        let read = async |is_fan: bool, known: Option<&HeaderValue>| {
            let mut request = TestRequest::get().uri("/room").insert_header(NAVIGATION);
            request = request.insert_header((DESTINATION, "document"));
            if is_fan {
                request = request.insert_header(("cookie", "session=any"));
            }
            if let Some(tag) = known {
                request = request.insert_header((header::IF_NONE_MATCH, tag.clone()));
            }
            let res = try_call_service(&service, request.to_request()).await.unwrap();
            let headers = res.headers();
            let has_link = headers.contains_key(header::LINK);
            (res.status(), has_link, headers.get(header::ETAG).unwrap().clone())
        };
        let ((.., of_guest), (.., of_fan)) = (read(false, None).await, read(true, None).await);
        for (is_fan, known, expected) in [
            (false, &of_fan, StatusCode::OK),
            (true, &of_guest, StatusCode::OK),
            (false, &of_guest, StatusCode::NOT_MODIFIED),
            (true, &of_fan, StatusCode::NOT_MODIFIED),
        ] {
            let (status, has_link, _) = read(is_fan, Some(known)).await;
            assert_eq!((status, has_link), (expected, is_fan), "{is_fan} {known:?}");
        }
    }

    #[actix_web::test]
    async fn a_page_names_the_texts_of_the_first_language_that_the_client_has() {
        let service = started!();
        let page = async |languages: Option<&str>| {
            let mut request = TestRequest::get().uri("/quests").insert_header(NAVIGATION);
            if let Some(languages) = languages {
                request = request.insert_header(("accept-language", languages));
            }
            let (_, body) = call!(service, request);
            String::from_utf8(body.to_vec()).unwrap()
        };
        let (english, german) = (page(None).await, page(Some("de")).await);
        let names = |text: &str, language: &str| text.contains(&format!("/assets/{language}-pages-"));
        assert_eq!([names(&english, "en"), names(&english, "de")], [true, false]);
        assert_eq!([names(&german, "en"), names(&german, "de")], [false, true]);
        for (languages, expected) in [
            ("en-GB,en;q=0.9,de;q=0.8", &english),
            ("fr-FR, DE-at;q=0.8, en;q=0.5", &german),
            ("fr", &english),
            ("*", &english),
            ("", &english),
        ] {
            assert_eq!(&page(Some(languages)).await, expected, "{languages}");
        }
    }

    #[actix_web::test]
    async fn files_are_compressed_and_cached_by_their_names() {
        let service = started!();
        for file in CLIENT.files.values() {
            for coding in ["identity", "br", "gzip"] {
                let request = TestRequest::get().uri(&file.path).insert_header(("accept-encoding", coding));
                let ((status, kind, caching, tag, coded, policy), body) = call!(service, request);
                assert_eq!((status, kind.as_str()), (StatusCode::OK, file.content_type), "{}", file.path);
                assert_eq!(policy == POLICY, !file.is_immutable, "{}", file.path);
                let expected =
                    if file.is_immutable { IMMUTABLE } else { HeaderValue::from_static("public, no-cache") };
                assert_eq!(caching, expected.to_str().unwrap(), "{}", file.path);
                assert!(!tag.is_empty());
                let is_plain = coding == "identity" || kind == "image/png";
                assert_eq!(coded, if is_plain { "" } else { coding }, "{}", file.path);
                assert!(is_plain || body.len() < file.body.len() + 64, "{} {coding}", file.path);
            }
        }
    }
}
