//! What no file may contain. These checks replace remarks in reviews.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Folders with sources.
const SOURCES: [&str; 3] = ["crates", "tests", "xtask"];
/// A file of this many lines or more has more than one subject.
const LONGEST: usize = 700;
/// Names that do not say what a file is about.
const EMPTY_NAMES: [&str; 5] = ["utils", "util", "helpers", "common", "misc"];

fn sources() -> Result<Vec<(String, String)>> {
    let mut sources = Vec::new();
    for folder in SOURCES {
        sources.extend(texts(folder, &[".rs"])?);
    }
    ensure!(sources.len() > 20, "the sources are elsewhere");
    Ok(sources)
}

/// `path:line` of every line that contains one of the words.
fn places(files: &[(String, String)], words: &[&str]) -> Vec<String> {
    let lines = files.iter().flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(number, line)| (path, number + 1, line))
    });
    lines
        .filter(|(_, _, line)| words.iter().any(|word| line.contains(word)))
        .map(|(path, number, line)| format!("{path}:{number}: {}", line.trim()))
        .collect()
}

#[test]
fn no_unfinished_work_is_left() -> Result<()> {
    // Spelled in two halves, so that this file does not contain them.
    let words = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("db", "g!("),
        concat!("#[ig", "nore"),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
    ];
    let found = places(&sources()?, &words);
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

/// Lines of tests that yield, by file and text, with the reason.
const YIELDS: [(&str, &str, &str); 1] = [(
    "tests/contract/minting.rs",
    concat!("tokio::task::yield", "_now().await;"),
    "once per call, so that a second message to the same fan could begin; it waits for nothing",
)];

#[test]
fn tests_do_not_sleep_or_spin() -> Result<()> {
    // A test that sleeps is slow where it passes and fails where the machine is slower. One that spins takes the
    // processor from what it waits for. `wait_until` of the testkit waits for states that nothing announces.
    let words = [
        concat!("::sl", "eep("),
        concat!("sl", "eep_ms("),
        concat!("sl", "eep_until("),
        concat!("park_", "timeout"),
        concat!("spin_", "loop"),
        concat!("yield_", "now"),
    ];
    let mut files = texts("tests", &[".rs"])?;
    for folder in ["crates/testkit/src", "crates/pgtemp/tests"] {
        files.extend(texts(folder, &[".rs"])?);
    }
    let polls = ["crates/testkit/src/wait.rs", "crates/testkit/src/program.rs"];
    files.retain(|(path, _)| !polls.contains(&path.as_str()));
    let found: Vec<_> = places(&files, &words)
        .into_iter()
        .filter(|place| {
            !YIELDS.iter().any(|(path, line, _)| place.starts_with(path) && place.ends_with(line))
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    for (path, line, reason) in YIELDS {
        let is_used = files.iter().any(|(file, text)| file == path && text.contains(line));
        assert!(is_used && !reason.is_empty(), "{path} does not hold {line}");
    }
    Ok(())
}

#[test]
fn raw_reads_of_tests_continue_after_a_signal() -> Result<()> {
    // `read_some` of the testkit repeats a read that EINTR ended; no other code may read a socket directly.
    let mut files = texts("tests", &[".rs"])?;
    files.extend(
        texts("crates/testkit", &[".rs"])?.into_iter().filter(|(path, _)| !path.ends_with("/raw.rs")),
    );
    let found = places(&files, &[concat!(".re", "ad(&mut ")]);
    let found: Vec<_> = found.into_iter().filter(|place| !place.ends_with(".await;")).collect();
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

#[test]
fn files_have_one_subject_and_a_name_for_it() -> Result<()> {
    for (path, text) in sources()? {
        let lines = text.lines().count();
        assert!(lines < LONGEST, "{path} has {lines} lines");
        let named = Path::new(&path).with_extension("");
        let empty = named.iter().find(|part| EMPTY_NAMES.iter().any(|name| part == name));
        assert!(empty.is_none(), "{path}: {empty:?} says nothing");
    }
    Ok(())
}

#[test]
fn saturating_conversions_are_those_of_the_kernel() -> Result<()> {
    let mut files = texts("crates", &[".rs"])?;
    // `art` does not depend on the kernel.
    files.retain(|(path, _)| path != "crates/kernel/src/num.rs" && !path.starts_with("crates/art/"));
    let conversions = ["i32", "i64", "u32", "u64", "u128", "usize"].map(|to| format!("{to}::try_from("));
    let found: Vec<_> = places(&files, &conversions.each_ref().map(String::as_str))
        .into_iter()
        .filter(|place| place.contains(".unwrap_or(") && place.contains("::MAX)"))
        .collect();
    assert!(found.is_empty(), "use `terrace_kernel::num`: {found:#?}");
    Ok(())
}

/// Documents that are read in one go, with the number of lines that they may have at most.
const SHORT: [(&str, usize); 4] = [
    ("README.md", 200),
    ("docs/architecture.md", 300),
    ("docs/operations.md", 100),
    ("docs/performance.md", 100),
];

#[test]
fn documents_to_start_from_are_short() -> Result<()> {
    for (path, most) in SHORT {
        let lines = fs::read_to_string(root().join(path))?.lines().count();
        assert!(lines > 20 && lines <= most, "{path} has {lines} lines of at most {most}");
    }
    Ok(())
}

/// Text that no formatter checks: documents, schemas, manifests, scripts.
fn prose() -> Result<Vec<(String, String)>> {
    let mut prose = texts("", &[".md", ".sql", ".toml"])?;
    prose.extend(texts(".ci", &[""])?);
    ensure!(prose.iter().any(|(path, _)| path == "CONTRIBUTING.md"), "the documents are elsewhere");
    Ok(prose)
}

#[test]
fn documents_have_no_stray_whitespace() -> Result<()> {
    for (path, text) in prose()? {
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path} ends in exactly one line break");
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            assert!(!line.contains('\t'), "{path}:{number} holds a tab");
            assert_eq!(line, line.trim_end(), "{path}:{number} ends in blanks");
        }
    }
    Ok(())
}

#[test]
fn files_speak_of_the_product_and_of_no_machine() -> Result<()> {
    let mut files = sources()?;
    files.extend(prose()?);
    let words = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
    let found = places(&files, &words);
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}

fn names(folder: &Path) -> Result<BTreeSet<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[test]
fn both_databases_have_the_same_migrations_up_and_down() -> Result<()> {
    let folder = root().join("migrations");
    let (sqlite, postgres) = (names(&folder.join("sqlite"))?, names(&folder.join("postgres"))?);
    assert!(!sqlite.is_empty());
    assert_eq!(sqlite, postgres);
    let versions: BTreeSet<_> = sqlite.iter().map(|name| name.split('_').next()).collect();
    assert_eq!(versions.len(), sqlite.len(), "a version is used twice: {sqlite:?}");
    for database in ["sqlite", "postgres"] {
        for migration in &sqlite {
            let folder = folder.join(database).join(migration);
            let shown = format!("{database}/{migration}");
            assert_eq!(names(&folder)?.into_iter().collect::<Vec<_>>(), ["down.sql", "up.sql"], "{shown}");
            for file in ["down.sql", "up.sql"] {
                let text = fs::read_to_string(folder.join(file))?;
                assert!(text.contains(';'), "{shown}/{file} does nothing");
            }
        }
    }
    Ok(())
}
