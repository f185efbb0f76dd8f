//! The code in documents is the code of the service, which is compiled.

use super::files::{root, texts};
use anyhow::{Context, Result, ensure};
use std::fs;

/// The documents whose Rust code is quoted from source files. The code of other documents is compiled as doctests.
const QUOTING: [&str; 1] = ["docs/adding-an-endpoint.md"];

/// A block of Rust code, and the last source file that the text before it names.
struct Excerpt {
    line: usize,
    file: String,
    code: Vec<String>,
}

fn excerpts(document: &str) -> Result<Vec<Excerpt>> {
    let mut found: Vec<Excerpt> = Vec::new();
    let (mut file, mut is_rust) = (None, false);
    for (number, line) in document.lines().enumerate() {
        if line.starts_with("```") {
            is_rust = !is_rust && line.starts_with("```rust");
            if is_rust {
                let file = file.clone().with_context(|| format!("line {}: which file?", number + 1))?;
                found.push(Excerpt { line: number + 1, file, code: Vec::new() });
            }
        } else if is_rust {
            found.last_mut().context("a block")?.code.extend(code_line(line));
        } else {
            let names = line.split('`').skip(1).step_by(2);
            let is_source = |name: &&str| name.starts_with("crates/") && !name.ends_with('/');
            file = names.filter(is_source).last().map(str::to_owned).or(file);
        }
    }
    Ok(found)
}

/// A line without indentation; `None` for blank lines and comments, which an excerpt may leave out.
fn code_line(line: &str) -> Option<String> {
    let line = line.trim();
    (!line.is_empty() && !line.starts_with("//")).then(|| line.to_owned())
}

#[test]
fn code_in_documents_is_quoted_from_the_sources() -> Result<()> {
    let documents = texts("docs", &[".md"])?;
    for (path, text) in documents.iter().filter(|(path, _)| QUOTING.contains(&path.as_str())) {
        let excerpts = excerpts(text)?;
        ensure!(excerpts.len() > 3, "{path} quotes no code");
        for Excerpt { line, file, code } in excerpts {
            let source =
                fs::read_to_string(root().join(&file)).with_context(|| format!("{path}:{line}: {file}"))?;
            let source: Vec<String> = source.lines().filter_map(code_line).collect();
            let is_quoted = !code.is_empty() && source.windows(code.len()).any(|lines| lines == code);
            assert!(is_quoted, "{path}:{line}: not in {file}:\n{}", code.join("\n"));
        }
    }
    Ok(())
}

#[test]
fn other_documents_do_not_leave_rust_code_unchecked() -> Result<()> {
    let documents = texts("", &[".md"])?;
    let unchecked: Vec<&String> = documents
        .iter()
        .filter(|(path, text)| !QUOTING.contains(&path.as_str()) && text.contains("```rust,ignore"))
        .map(|(path, _)| path)
        .collect();
    assert!(unchecked.is_empty(), "Rust code that nothing compiles: {unchecked:?}");
    Ok(())
}
