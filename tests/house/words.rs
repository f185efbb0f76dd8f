//! The terms of `docs/glossary.md`: identifiers that were replaced do not come back.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::fs;

/// Identifiers that were replaced, each with the one to use.
const RETIRED: [(&str, &str); 43] = [
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
];

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
