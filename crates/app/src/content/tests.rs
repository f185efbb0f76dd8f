//! Damaged content files: whatever they contain, the refusal names the line.

use crate::content::ContentFaults;
use crate::hostile::{piece, samples};
use crate::{Catalogue, PackContent, QuestContent};
use proptest::prelude::*;
use terrace_kernel::TeamId;
use terrace_packs::{Known as KnownPacks, Minted, odds};
use terrace_quests::{Known as KnownQuests, plan};
use uuid::Uuid;

const QUESTS: &str = include_str!("../../content/quests.toml");
const PACKS: &str = include_str!("../../content/packs.toml");
const LEAGUES: &str = include_str!("../../content/leagues.toml");
const TEAMS: &str = include_str!("../../content/teams.toml");

/// A valid text with up to 3 spans replaced by pieces and up to 3 lines removed or doubled.
fn damaged(good: &'static str) -> impl Strategy<Value = String> {
    let line = any::<prop::sample::Index>();
    let cut = (line.clone(), any::<prop::sample::Index>(), 0..30_usize, piece(&[""]));
    let lines = prop::collection::vec((line, any::<bool>()), 0..4);
    (prop::collection::vec(cut, 0..4), lines).prop_map(|(cuts, lines)| {
        let mut text: Vec<Vec<u8>> =
            good.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
        for (line, at, length, piece) in cuts {
            let line = line.index(text.len());
            // `+ 1` includes the end of the line, the only valid index of a line that is already empty.
            let from = at.index(text[line].len() + 1);
            let to = (from + length).min(text[line].len());
            text[line].splice(from..to, piece);
        }
        for (line, is_doubled) in lines {
            let line = line.index(text.len());
            text[line] = if is_doubled { text[line].repeat(2) } else { Vec::new() };
        }
        String::from_utf8_lossy(&text.concat()).into_owned()
    })
}

fn team(key: &str) -> Option<TeamId> {
    TEAMS.contains(key).then(|| TeamId::from_uuid(Uuid::from_u128(1)))
}

fn new_ids() -> impl FnMut() -> Uuid {
    let mut ids = 0;
    move || {
        ids += 1;
        Uuid::from_u128(ids)
    }
}

/// Parses quests as at startup; an error must name its line.
fn quests(text: &str) {
    let mut faults = ContentFaults::default();
    let content = QuestContent::read(Some(text), &mut faults);
    let known = KnownQuests { quests: &[], team: &team, closes_after: None };
    if let Err(errors) = plan(&content.drafts, &known, new_ids()) {
        content.locate(&errors, &mut faults);
    }
    located(&faults, text);
}

/// Every fault names a line of the text.
fn located(faults: &ContentFaults, text: &str) {
    for fault in faults.iter() {
        let line = fault.line.unwrap_or_default();
        assert!(line >= 1 && line <= text.lines().count() + 1, "{fault}");
    }
}

/// Parses packs as at startup; an error must name its line, and every accepted pack must have odds that sum to 1.
fn packs(text: &str) {
    let known = KnownPacks {
        collectibles: &[],
        packs: &[],
        team: &team,
        now: None,
        closes_after: None,
        currency: None,
    };
    match PackContent::parse(text).and_then(|content| content.plan(&known, new_ids())) {
        Err(faults) => located(&faults, text),
        Ok(catalogue) => {
            for pack in &catalogue.packs {
                let odds = odds(pack, &Minted::default());
                let all: f64 = odds.rarities.iter().map(|rarity| rarity.share).sum();
                assert!((all - 1.0).abs() < 1e-9, "{pack:?}");
            }
        }
    }
}

/// Parses leagues and teams as at startup; an error must name its line, or the key of the item.
fn catalogue(leagues: &str, teams: &str) {
    let longer = if leagues.len() > teams.len() { leagues } else { teams };
    if let Err(faults) = Catalogue::parse(leagues, teams) {
        located(&faults, longer);
    }
}

proptest! {
    #[test]
    fn quests_that_are_damaged_are_refused_with_their_line(text in damaged(QUESTS)) {
        quests(&text);
    }

    #[test]
    fn packs_that_are_damaged_are_refused_with_their_line(text in damaged(PACKS)) {
        packs(&text);
    }

    #[test]
    fn a_catalogue_that_is_damaged_is_refused(leagues in damaged(LEAGUES), teams in damaged(TEAMS)) {
        catalogue(&leagues, TEAMS);
        catalogue(LEAGUES, &teams);
    }
}

#[test]
fn what_once_went_wrong_is_read_or_refused() {
    for (name, bytes) in samples() {
        println!("{name}");
        let text = String::from_utf8_lossy(&bytes);
        quests(&text);
        packs(&text);
        catalogue(&text, TEAMS);
        catalogue(LEAGUES, &text);
        for good in [QUESTS, PACKS] {
            quests(&format!("{good}\n{text}"));
            packs(&format!("{good}\n{text}"));
        }
    }
}
