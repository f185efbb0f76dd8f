//! What other apps show of a link to a page: tags of the Open Graph protocol in the head of the client's page.
//!
//! Apps that preview links run no scripts, so the service writes the tags. They show what a guest may read.

use crate::edge::PublicUrl;
use crate::error::ApiError;
use crate::html::escaped;
use terrace_app::App;
use terrace_app::store::BoxFuture;

/// Reads what a page shows, from the one parameter in its path.
pub(crate) type ReadPreview = for<'a> fn(&'a App, &'a str) -> BoxFuture<'a, Result<Preview, ApiError>>;

/// The most characters of a title, and of a description.
const TITLE: usize = 120;
const DESCRIPTION: usize = 300;
/// Shown of a page without a picture of its own.
const ICON: &str = "/icon-512.png";

/// What is shown of a page.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    pub(crate) title: String,
    /// Empty if the page has none.
    pub(crate) description: String,
    /// An https URL, or a path of this service.
    pub(crate) image_url: Option<String>,
}

/// Where a page is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    /// The name of the club.
    pub(crate) name: &'a str,
    /// The address of the service. Without it, other apps cannot reach its pages: links and pictures are left out.
    pub(crate) url: Option<&'a PublicUrl>,
}

impl Preview {
    /// The page with the tags at the end of its head.
    pub(crate) fn add_to(&self, page: &str, site: Site<'_>, path: &str) -> String {
        let absolute = |path: &str| site.url.map(|url| format!("{url}{path}"));
        let tags = [
            ("og:site_name", Some(site.name.to_owned())),
            ("og:type", Some("website".to_owned())),
            ("og:title", Some(shortened(&self.title, TITLE))),
            ("og:description", Some(shortened(&self.description, DESCRIPTION))),
            ("og:url", absolute(path)),
            ("og:image", self.picture().map_or_else(|| absolute(ICON), |url| with_origin(url, absolute))),
        ];
        let tags = tags.into_iter().filter_map(|(name, content)| {
            let content = content.filter(|content| !content.is_empty())?;
            Some(format!("  <meta property=\"{name}\" content=\"{}\" />\n  ", escaped(&content)))
        });
        let (head, rest) = page.split_once("</head>").unwrap_or((page, ""));
        format!("{head}{}</head>{rest}", tags.collect::<String>())
    }

    /// Its picture, unless it is a drawing, which other apps do not show.
    fn picture(&self) -> Option<&str> {
        let url = self.image_url.as_deref()?;
        let is_drawing = url.rsplit_once('.').is_some_and(|(_, kind)| kind.eq_ignore_ascii_case("svg"));
        (!is_drawing).then_some(url)
    }
}

fn with_origin(url: &str, absolute: impl Fn(&str) -> Option<String>) -> Option<String> {
    if url.starts_with('/') { absolute(url) } else { Some(url.to_owned()) }
}

/// The text on one line of at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.char_indices().nth(most).map(|(place, _)| place);
    match end.and_then(|_| line.char_indices().nth(most.saturating_sub(1))) {
        Some((place, _)) => format!("{}…", line.get(..place).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html>\n  <head>\n    <title>T</title>\n  </head>\n  <body></body>\n</html>";

    fn tags(preview: &Preview, url: Option<&str>) -> Vec<(String, String)> {
        let url = url.map(|url| url.parse().unwrap());
        let site = Site { name: "Foxes & Co", url: url.as_ref() };
        let page = preview.add_to(PAGE, site, "/posts/1?a=\"b\"");
        let (head, rest) = page.split_once("\n  </head>").unwrap();
        assert!(rest.ends_with("<body></body>\n</html>"), "{page}");
        let tags = head.strip_prefix("<html>\n  <head>\n    <title>T</title>\n").unwrap().lines();
        tags.map(|line| {
            let line = line.strip_prefix("    <meta property=\"").unwrap().strip_suffix("\" />").unwrap();
            let (name, content) = line.split_once("\" content=\"").unwrap();
            assert!(!content.contains(['"', '<', '>']), "{line}");
            (name.to_owned(), content.to_owned())
        })
        .collect()
    }

    #[test]
    fn a_page_says_what_it_shows() {
        let preview = Preview {
            title: "Mia <script>".to_owned(),
            description: "Two\nlines  \"quoted\"".to_owned(),
            image_url: Some("/media/abc".to_owned()),
        };
        let found = tags(&preview, Some("https://fans.example"));
        let expected = [
            ("og:site_name", "Foxes &amp; Co"),
            ("og:type", "website"),
            ("og:title", "Mia &lt;script&gt;"),
            ("og:description", "Two lines &quot;quoted&quot;"),
            ("og:url", "https://fans.example/posts/1?a=&quot;b&quot;"),
            ("og:image", "https://fans.example/media/abc"),
        ];
        assert_eq!(found, expected.map(|(name, content)| (name.to_owned(), content.to_owned())));
    }

    #[test]
    fn without_an_address_only_pictures_elsewhere_are_named() {
        for (picture, url, expected) in [
            (Some("/media/abc"), None, None),
            (None, None, None),
            (None, Some("https://fans.example"), Some("https://fans.example/icon-512.png")),
            (Some("/content/a.SVG"), Some("https://fans.example"), Some("https://fans.example/icon-512.png")),
            (Some("https://cdn.example/a.webp"), None, Some("https://cdn.example/a.webp")),
        ] {
            let preview = Preview { image_url: picture.map(str::to_owned), ..Preview::default() };
            let found = tags(&preview, url).into_iter().find(|(name, _)| name == "og:image");
            assert_eq!(found.as_ref().map(|(_, content)| content.as_str()), expected, "{picture:?}");
        }
    }

    #[test]
    fn long_texts_are_shortened_between_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
        assert_eq!(shortened("ab cd ef", 4), "ab…");
        assert_eq!(shortened(" \n ", 4), "");
        assert_eq!(shortened(&"x".repeat(400), DESCRIPTION).chars().count(), DESCRIPTION);
    }
}
