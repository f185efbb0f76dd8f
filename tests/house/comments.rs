//! A doc comment says more than the name that it stands above.

use super::files::texts;
use anyhow::{Result, ensure};

const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// What may precede the name of an item.
const KEYWORDS: [&str; 15] = [
    "pub", "crate", "super", "async", "const", "unsafe", "default", "static", "struct", "enum", "trait",
    "type", "fn", "mod", "union",
];

/// The words of a name or of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_lower = false;
    for letter in text.chars() {
        let starts = letter.is_uppercase() && is_lower || !letter.is_alphanumeric();
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        is_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The name of the item, field or variant that a line begins.
fn name(line: &str) -> Option<&str> {
    let mut names = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    names.find(|name| !name.is_empty() && !KEYWORDS.contains(name))
}

/// Whether the words of a comment are those of the name, articles aside.
fn repeats(comment: &str, name: &str) -> bool {
    let mut said = words(comment);
    said.retain(|word| !ARTICLES.contains(&word.as_str()));
    !said.is_empty() && said == words(name)
}

/// The doc comments of a file, each with the number of its last line and the line that it describes.
fn documented(text: &str) -> Vec<(String, usize, &str)> {
    let (mut found, mut comment, mut depth, mut last) = (Vec::new(), Vec::new(), 0, 0);
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if let Some(words) = line.strip_prefix("///") {
            comment.push(words.trim());
            last = number + 1;
        } else if line.starts_with("#[") || depth > 0 {
            depth += line.matches('[').count();
            depth = depth.saturating_sub(line.matches(']').count());
        } else if !comment.is_empty() {
            found.push((comment.join(" "), last, line));
            comment.clear();
        }
    }
    found
}

#[test]
fn comments_say_more_than_names() -> Result<()> {
    let mut files =
        [texts("crates", &[".rs"])?, texts("tests", &[".rs"])?, texts("xtask", &[".rs"])?].concat();
    // The comments of wire types and handlers are the descriptions in the OpenAPI document, which are required there.
    files.retain(|(_, text)| !text.contains("ToSchema") && !text.contains("#[utoipa::path("));
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in &files {
        for (comment, number, line) in documented(text) {
            seen += 1;
            if name(line).is_some_and(|name| repeats(&comment, name)) {
                wrong.push(format!("{path}:{number}: {comment}"));
            }
        }
    }
    ensure!(seen > 3000, "the comments are elsewhere: {seen}");
    assert!(wrong.is_empty(), "delete these, or say a unit, a bound, a shape or an error: {wrong:#?}");
    Ok(())
}

#[test]
fn comments_are_found_with_their_names() {
    let text = "/// The user name.\n#[arg(\n    long,\n)]\npub(crate) user_name: String,\n/// Ends\n/// it.\nfn end() {}";
    let found = documented(text);
    assert_eq!(found[0], ("The user name.".to_owned(), 1, "pub(crate) user_name: String,"));
    assert_eq!(found[1], ("Ends it.".to_owned(), 7, "fn end() {}"));
    assert_eq!((name(found[0].2), name(found[1].2)), (Some("user_name"), Some("end")));
    assert_eq!(name("pub const fn of(self) {"), Some("of"));
    assert!(repeats("A corner flag.", "CornerFlag") && repeats("The user name.", "user_name"));
    assert!(!repeats("Ends it.", "end") && !repeats("The user name, from 3 characters.", "user_name"));
}
