//! The terms of `docs/glossary.md`: identifiers that were replaced do not come back.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::fs;

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

/// Phrases that are not used in sources and documents, in lower case. Each is written in two parts, so that this list
/// does not contain it. The spaces exclude values such as the user name in a URL.
const PHRASES: [&str; 23] = [
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
    concat!("some", "body "),
    concat!(" some", "body"),
    concat!("there", " before"),
    concat!("to be", " had"),
    concat!("to be", " mended"),
    concat!(" to", "ld"),
    concat!("to", "ld of "),
    concat!("to", "ld to "),
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

#[test]
fn the_glossary_holds_what_replaced_them() -> Result<()> {
    let glossary = fs::read_to_string(root().join("docs/glossary.md"))?;
    let missing: Vec<_> = RETIRED
        .iter()
        .map(|(_, term)| *term)
        .filter(|term| term.contains(char::is_uppercase) && !glossary.contains(&format!("`{term}`")))
        .collect();
    assert!(missing.is_empty(), "docs/glossary.md does not explain {missing:?}");
    Ok(())
}

#[test]
fn retired_phrases_do_not_come_back() -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "xtask"] {
        files.extend(texts(folder, &[".rs"])?);
    }
    files.extend(texts("docs", &[".md"])?);
    files.extend(texts("migrations", &[".sql"])?);
    files.push(("README.md".to_owned(), fs::read_to_string(root().join("README.md"))?));
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
