//! The terms of `docs/glossary.md`: identifiers that were replaced do not come back.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Identifiers that were replaced, each with the one to use.
const RETIRED: [(&str, &str); 53] = [
    ("ASTRAY", "MAX_CLOCK_SKEW"),
    ("Awaited", "PaymentFollowUp"),
    ("BoardsNow", "BoardSnapshot"),
    ("Boardless", "UnassignedAward"),
    ("CopyMend", "CopyRepair"),
    ("CountPast", "CountExpired"),
    ("Dressed", "RenderedError"),
    ("FactsMend", "FactsRepair"),
    ("Familiar", "KnownOrigins"),
    ("GiveRefusal", "AwardPointsRefusal"),
    ("HowItEnds", "CloseReason"),
    ("IN_ONE_STATE", "CONSISTENT_SNAPSHOT"),
    ("KnownFavorite", "FavoriteAsOf"),
    ("LedgerMendWrite", "LedgerRepairWrite"),
    ("MAY_BE_OLD", "ALLOW_STALE"),
    ("Mending", "Repair"),
    ("MendingRead", "RepairRead"),
    ("MendingWrite", "RepairWrite"),
    ("PacksMend", "PacksRepair"),
    ("PackWish", "OpenPackRequest"),
    ("PointsMend", "PointsRepair"),
    ("Reckoning", "TrendScorer"),
    ("Rehearsed", "DryRun"),
    ("RowsMend", "RowsRepair"),
    ("Runless", "OrphanProgress"),
    ("SHOWS_ON_BOARDS", "AFFECTS_LEADERBOARD"),
    ("SeedSafe", "SeedCipher"),
    ("Sight", "Visibility"),
    ("Stride", "AdaptiveBatch"),
    ("TakeBackRefusal", "ReversePointsRefusal"),
    ("TakesMoney", "PaymentMode"),
    ("Usher", "QueueReaper"),
    ("WhoIsAbout", "FallbackCandidates"),
    ("WhoMayBe", "CandidateFilter"),
    ("boards_show", "wait_until_visible"),
    ("bring_in_line", "reconcile"),
    ("execute_unheard", "execute_background"),
    ("give_for_the_past", "backfill_award"),
    ("in_one_state", "consistent_snapshot"),
    ("let_servers_tell", "await_publication"),
    ("may_be_old", "allow_stale"),
    ("shows_on_boards", "affects_leaderboard"),
    ("unrefused", "into_infallible"),
    ("append_told", "append_with_detail"),
    ("fans_not_told", "fans_without_messages"),
    ("improvised", "closures"),
    ("look_at_fans", "check_fans"),
    ("mend_rows", "repair_rows"),
    ("most_told", "max_wanted"),
    ("only_asked", "only_requested"),
    ("revoke_and_tell", "revoke_and_notify"),
    ("start_usher", "start_reaper"),
    ("tells_minter", "has_minter"),
];

/// Types that were replaced and whose names are words of prose, too: only their definition is refused.
const RETIRED_TYPES: [(&str, &str); 10] = [
    ("Asked", "QueuedRead"),
    ("Beside", "PlannerBarrier"),
    ("Fit", "ChiSquareTest"),
    ("Given", "AwardResult"),
    ("Moved", "TransferOutcome"),
    ("Pace", "TaskContext"),
    ("Past", "Retention"),
    ("Ran", "TaskRun"),
    ("Ties", "Relationship"),
    ("Whose", "AccountSelector"),
];

/// Names that had several meanings, each with the crates that may define a type of that name: a command of the store
/// and of the terminal, the step of a quest, and the state that content is validated against.
const ONE_MEANING: [(&str, &[&str]); 4] = [
    ("Command", &["crates/server", "crates/store"]),
    ("Known", &["crates/packs", "crates/quests", "crates/rewards", "crates/shop"]),
    ("Place", &[]),
    ("Step", &["crates/quests", "tests/crash"]),
];

/// Phrases that are not used in sources and documents, in lower case. Each is written in two parts, so that this list
/// does not contain it. The spaces exclude values such as the user name in a URL.
const PHRASES: [&str; 26] = [
    concat!("any", "body "),
    concat!(" any", "body"),
    concat!("as of", " then"),
    concat!("brought", " in"),
    concat!("give", " out"),
    concat!("given", " out"),
    concat!("gives", " out"),
    concat!("held", " against"),
    concat!("look", " after"),
    concat!("looked", " after"),
    concat!("looks", " after"),
    concat!("no", "body "),
    concat!(" no", "body"),
    concat!("reck", "on"),
    concat!("rehe", "ars"),
    concat!("some", "body "),
    concat!(" some", "body"),
    concat!("there", " before"),
    concat!("to be", " had"),
    concat!("to be", " mended"),
    concat!(" to", "ld"),
    concat!("to", "ld of "),
    concat!("to", "ld to "),
    concat!("who ", "shows"),
    concat!("who", "ever"),
    concat!("whom", "ever"),
];

/// Content that is written as fans write.
const CONTENT: [&str; 2] = ["crates/bench/src/rows.rs", "tests/house/words.rs"];

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).filter(|word| !word.is_empty())
}

#[test]
fn replaced_identifiers_do_not_come_back() -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        files.extend(texts(folder, &[".rs"])?);
    }
    files.extend(texts("docs", &[".md"])?);
    files.retain(|(path, _)| path != "tests/house/words.rs");
    ensure!(files.len() > 20, "the sources are elsewhere");
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            let found = words(line).find_map(|word| RETIRED.iter().find(|(retired, _)| *retired == word));
            let number = number + 1;
            assert!(found.is_none(), "{path}:{number}: {found:?}: {}", line.trim());
        }
    }
    Ok(())
}

/// The name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let mut words = words(line);
    words.find(|word| ["struct", "enum", "trait", "type", "union"].contains(word))?;
    words.next()
}

#[test]
fn names_of_types_have_one_meaning() -> Result<()> {
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (path, text) in
        [texts("crates", &[".rs"])?, texts("tests", &[".rs"])?, texts("xtask", &[".rs"])?].concat()
    {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for name in code.filter_map(defined) {
            let shared = ONE_MEANING.iter().find(|(word, _)| *word == name).map(|(_, folders)| *folders);
            let is_retired = RETIRED_TYPES.iter().any(|(retired, _)| *retired == name);
            let Some(folders) = shared.or(is_retired.then_some(&[])) else { continue };
            let is_allowed = folders.iter().any(|folder| Path::new(&path).starts_with(folder));
            if !is_allowed || !seen.insert((name.to_owned(), path.clone())) {
                wrong.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let defined: usize = ONE_MEANING.iter().map(|(_, folders)| folders.len()).sum();
    assert_eq!(seen.len(), defined, "a name may be defined less often than this file says: {seen:?}");
    Ok(())
}

#[test]
fn the_glossary_holds_what_replaced_them() -> Result<()> {
    let glossary = fs::read_to_string(root().join("docs/glossary.md"))?;
    let missing: Vec<_> = [&RETIRED[..], &RETIRED_TYPES[..]]
        .concat()
        .into_iter()
        .map(|(_, term)| term)
        .filter(|term| term.contains(char::is_uppercase) && !glossary.contains(&format!("`{term}`")))
        .collect();
    assert!(missing.is_empty(), "docs/glossary.md does not explain {missing:?}");
    Ok(())
}

/// The comments of a source of the client, each in its line. The rest of a line is its code.
fn comments(text: &str) -> String {
    let (mut lines, mut is_open) = (Vec::new(), false);
    for line in text.lines() {
        let start = if is_open {
            Some(0)
        } else {
            ["/*", "//", "<!--"].iter().filter_map(|mark| line.find(mark)).min()
        };
        let comment = start.map_or("", |start| &line[start..]);
        let closed = comment.rfind("*/").max(comment.rfind("-->"));
        let opened = comment.rfind("/*").max(comment.rfind("<!--"));
        is_open = if closed.is_none() && opened.is_none() { is_open } else { opened > closed };
        lines.push(comment);
    }
    lines.join("\n")
}

#[test]
fn comments_of_the_client_are_found() {
    let text = "a(); // one\nb('told');\n/** two\n * three */\nc();\n<!-- four -->\n<b />";
    let found = comments(text);
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        ["// one", "", "/** two", " * three */", "", "<!-- four -->"]
    );
}

#[test]
fn retired_phrases_do_not_come_back() -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        files.extend(texts(folder, &[".rs"])?);
    }
    files.extend(texts("docs", &[".md"])?);
    files.extend(texts("migrations", &[".sql"])?);
    for name in ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        files.push((name.to_owned(), fs::read_to_string(root().join(name))?));
    }
    let client = texts("client/src", &[".ts", ".svelte", ".css"])?;
    ensure!(client.len() > 20, "the client's sources are elsewhere");
    files.extend(client.into_iter().map(|(path, text)| (path, comments(&text))));
    files.retain(|(path, _)| !CONTENT.contains(&path.as_str()));
    ensure!(files.len() > 20, "the sources are elsewhere");
    let mut found = Vec::new();
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            if let Some(phrase) = PHRASES.iter().find(|phrase| lower.contains(**phrase)) {
                found.push(format!("{path}:{}: {phrase:?}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    Ok(())
}
