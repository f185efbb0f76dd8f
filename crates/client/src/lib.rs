//! The web client: the files of its build in `dist/`, embedded into the program.
//!
//! `dist/` is the output of `cargo xtask client build` and is committed, so that building the program needs no Node. A
//! debug build reads the files from the folder when it starts to serve, so that a new build of the client needs no build
//! of the program, unless it has the feature `embedded`.

use rust_embed::{Embed, EmbeddedFile};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The policy under which the client runs: nothing is loaded from elsewhere, no inline script or style runs, and
/// scripts write no markup except through the two policies that are named.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
    connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html terrace-worker";

/// The page that shows the client.
const INDEX: &str = "index.html";
/// The paths of the client's pages, as templates, each with the files that the page needs.
const ROUTES: &str = "routes.json";
/// The manifest of the installable app.
const MANIFEST: &str = "manifest.webmanifest";
/// The digest of the sources of the build.
const INPUTS: &str = ".inputs";
/// The folder of files whose names hold a digest of their content.
const HASHED: &str = "assets/";

#[derive(Embed)]
#[folder = "dist"]
struct Dist;

/// A file of the client.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Its path below the root, such as `assets/index-1a2b.js`.
    pub name: Cow<'static, str>,
    /// Its content.
    pub body: Cow<'static, [u8]>,
    /// Its media type.
    pub content_type: &'static str,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub digest: String,
    /// Whether another content would have another name.
    pub is_immutable: bool,
}

/// The files that are served under their names.
pub fn assets() -> Vec<Asset> {
    Dist::iter()
        .filter(|name| ![INDEX, ROUTES, MANIFEST, INPUTS].contains(&name.as_ref()))
        .filter_map(asset)
        .collect()
}

/// The page that shows the client, whichever of its paths is opened; `None` if the build lacks it.
pub fn index() -> Option<Asset> {
    asset(Cow::Borrowed(INDEX))
}

/// The manifest of the installable app, before the club's name and colour are set; `None` if the build lacks it.
pub fn manifest() -> Option<serde_json::Map<String, serde_json::Value>> {
    serde_json::from_slice(&Dist::get(MANIFEST)?.data).ok()
}

/// The files that a page needs beside those that the page of the client names.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct PageFiles {
    /// Its scripts and styles.
    pub files: Vec<String>,
    /// Its texts by language, such as `en`.
    pub texts: BTreeMap<String, Vec<String>>,
}

/// The paths of the client's pages, as templates such as `/posts/{id}`, with the files that are known before the page runs.
pub fn routes() -> BTreeMap<String, PageFiles> {
    let routes = Dist::get(ROUTES).map(|file| serde_json::from_slice(&file.data));
    routes.and_then(Result::ok).unwrap_or_default()
}

fn asset(name: Cow<'static, str>) -> Option<Asset> {
    let EmbeddedFile { data, metadata } = Dist::get(&name)?;
    let digest =
        metadata.sha256_hash().iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    let content_type = content_type(&name);
    let is_immutable = name.starts_with(HASHED);
    Some(Asset { name, body: data, content_type, digest, is_immutable })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("webmanifest") => "application/manifest+json",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::path::Path;
    use std::{fs, io};

    /// What the bytes of a build depend on; `client/build/inputs.ts` names the same.
    const SOURCES: [&str; 9] = [
        "build",
        "index.html",
        "package-lock.json",
        "package.json",
        "public",
        "src",
        "svelte.config.js",
        "tsconfig.json",
        "vite.config.ts",
    ];

    fn is_ignored(name: &str) -> bool {
        [".test.ts", ".component.ts", ".d.ts", "/testing.ts"].iter().any(|ending| name.ends_with(ending))
    }

    fn collect(root: &Path, name: &str, found: &mut Vec<String>) -> io::Result<()> {
        if is_ignored(name) {
            return Ok(());
        }
        let path = root.join(name);
        if path.is_file() {
            found.push(name.to_owned());
            return Ok(());
        }
        for entry in fs::read_dir(path)? {
            collect(root, &format!("{name}/{}", entry?.file_name().to_string_lossy()), found)?;
        }
        Ok(())
    }

    #[test]
    fn the_build_is_of_the_committed_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../client");
        let mut names = Vec::new();
        for source in SOURCES {
            collect(&root, source, &mut names).unwrap();
        }
        names.sort();
        assert!(names.len() > 50, "the sources are elsewhere");
        let mut hash = Sha256::new();
        for name in names {
            let content = fs::read(root.join(&name)).unwrap();
            hash.update(format!("{name}\0{}\0", content.len()));
            hash.update(content);
        }
        let digest = hash.finalize().iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
        let built = Dist::get(INPUTS).unwrap();
        let built = String::from_utf8_lossy(&built.data);
        assert_eq!(
            built.trim(),
            digest,
            "client/ changed after crates/client/dist was built: `cargo xtask client build`"
        );
    }

    #[test]
    fn the_page_loads_files_that_exist() {
        let names: Vec<_> = assets().into_iter().map(|asset| asset.name).collect();
        let page = index().unwrap();
        assert_eq!(page.content_type, "text/html; charset=utf-8");
        let text = String::from_utf8(page.body.into_owned()).unwrap();
        let mut loaded = 0;
        for (_, rest) in text.match_indices("=\"/").map(|(place, _)| text.split_at(place + 3)) {
            let name = rest.split('"').next().unwrap();
            // The service makes these from the club.
            if !name.starts_with("api/") && !["theme.css", MANIFEST].contains(&name) {
                assert!(names.iter().any(|known| known == name), "{name}");
                loaded += 1;
            }
        }
        assert!(loaded > 2, "{text}");
        assert!(!text.contains("<style") && !text.contains("style="), "the policy forbids inline styles");
    }

    #[test]
    fn the_manifest_is_that_of_an_installable_app() {
        let manifest = manifest().unwrap();
        assert_eq!(manifest["display"], "standalone");
        assert!(assets().iter().all(|asset| asset.name != MANIFEST));
    }

    #[test]
    fn files_have_a_type_and_only_hashed_ones_never_change() {
        for asset in assets() {
            assert_ne!(asset.content_type, "application/octet-stream", "{}", asset.name);
            assert_eq!(asset.is_immutable, asset.name.starts_with("assets/"), "{}", asset.name);
            assert_eq!(asset.digest.len(), 64);
        }
    }

    #[test]
    fn pages_are_known_by_their_paths() {
        let routes = routes();
        assert!(routes.contains_key("/") && routes.len() > 5, "{routes:?}");
        assert!(
            routes.keys().all(|route| route.starts_with('/') && !route.starts_with("/api/")),
            "{routes:?}"
        );
    }

    #[test]
    fn pages_name_files_that_exist_and_that_the_start_does_not_load() {
        let names: Vec<_> = assets().into_iter().map(|asset| asset.name).collect();
        let start = String::from_utf8(index().unwrap().body.into_owned()).unwrap();
        for (route, PageFiles { files, texts }) in routes() {
            // A guest who opens this one is led on to another.
            assert_eq!((files.is_empty(), texts.is_empty()), (route == "/", route == "/"), "{route}");
            // The start has the texts of the room in English.
            assert!(
                texts.iter().all(|(language, texts)| !texts.is_empty()
                    || language == "en" && route == "/room"
                    || route == "/"),
                "{route}: {texts:?}"
            );
            for file in files.into_iter().chain(texts.into_values().flatten()) {
                assert!(
                    names.iter().any(|known| *known == file) && !start.contains(&file),
                    "{route}: {file}"
                );
                let kind = file.rsplit_once('.').map(|(_, kind)| kind);
                assert!(matches!(kind, Some("js" | "css")), "{route}: {file}");
            }
        }
    }
}
