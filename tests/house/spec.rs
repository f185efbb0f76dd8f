//! The table of tests in `docs/spec.md` is complete and true: each rule has a row, each row names tests that
//! exist, and their files name the section. A test that names a rule names its section, too.

use super::files::{root, texts};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const SPEC: &str = "docs/spec.md";
/// The part of the document that has the table.
const TABLE: &str = "## What is built";
/// The section whose parts have a row each.
const ENDPOINTS: &str = "§4";

/// The rules of the document: `§3.2` for a numbered rule, `scoring 2` for one of the leaderboard scoring rules,
/// `§7` for a section without numbered rules, and `§4 Quests` for a part of the endpoints.
fn rules(text: &str) -> BTreeSet<String> {
    let (mut rules, mut section, mut prefix) = (BTreeSet::new(), String::new(), String::new());
    for line in text.lines() {
        if let Some((number, _)) = line.strip_prefix("## ").and_then(|heading| heading.split_once(". ")) {
            section = format!("§{number}");
            prefix = format!("{section}.");
            rules.insert(section.clone());
        } else if let Some(part) = line.strip_prefix("### ") {
            if section == ENDPOINTS {
                rules.remove(&section);
                rules.insert(format!("{section} {part}"));
            }
            prefix = if part.contains("scoring") { "scoring ".to_owned() } else { format!("{section}.") };
        } else if let Some((number, _)) = line.split_once(". ")
            && number.parse::<u32>().is_ok()
        {
            rules.remove(&section);
            rules.insert(format!("{prefix}{number}"));
        }
    }
    rules
}

/// Words between the numbers of rules.
const JOINING: [&str; 4] = ["rule", "rules", "and", "to"];

/// The rules that the first cell of a row names, also as in `§1.7 to §1.11` and `Scoring rules 2 to 6`.
fn named(cell: &str) -> BTreeSet<String> {
    let (mut rules, mut prefix, mut last, mut is_range) = (BTreeSet::new(), "", 0, false);
    for word in cell.split([' ', ',']).filter(|word| !word.is_empty()) {
        let number = match word.strip_prefix('§').map(|rule| rule.split_once('.')) {
            Some(Some((section, rule))) => {
                prefix = &word[..word.len() - rule.len()];
                number_of(section).and(number_of(rule))
            }
            Some(None) => {
                rules.insert(word.to_owned());
                prefix = "";
                continue;
            }
            None if word == "Scoring" => {
                prefix = "scoring ";
                None
            }
            None if JOINING.contains(&word) => None,
            None => {
                let number = number_of(word).filter(|_| !prefix.is_empty());
                prefix = if number.is_some() { prefix } else { "" };
                number
            }
        };
        if let Some(number) = number {
            let first = if is_range { last + 1 } else { number };
            rules.extend((first..=number).map(|number| format!("{prefix}{number}")));
            last = number;
        }
        is_range = word == "to";
    }
    if let Some(part) = cell.strip_prefix(ENDPOINTS) {
        rules.insert(format!("{ENDPOINTS}{}", part.split(':').next().unwrap_or_default()));
    }
    rules
}

fn number_of(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// What a row names: files, and in each the tests that follow its name.
fn tests_of(cell: &str) -> Vec<(PathBuf, Vec<String>)> {
    let mut tests: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for word in cell.split('`').skip(1).step_by(2) {
        let is_path =
            word.contains('/') || Path::new(word).extension().is_some_and(|extension| extension == "rs");
        match tests.last_mut() {
            Some((path, _)) if is_path && !word.contains('/') => {
                let sibling = path.with_file_name(word);
                tests.push((sibling, Vec::new()));
            }
            _ if is_path => tests.push((PathBuf::from(word), Vec::new())),
            Some((_, names)) => names.push(word.to_owned()),
            None => {}
        }
    }
    tests
}

/// The rows of the table: the first cell and the second.
fn rows(table: &str) -> Vec<(&str, &str)> {
    let cells =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    cells.skip(1).collect()
}

/// Whether the text names the section, as `§1` or in the name of a test, as `spec_1`.
fn names_section(text: &str, section: &str) -> bool {
    let name = format!("fn spec_{}_", section.trim_start_matches('§'));
    let mut rest = text.split(section).skip(1);
    text.contains(&name) || rest.any(|after| !after.starts_with(|next: char| next.is_ascii_digit()))
}

/// What is wrong with a row: files and tests that do not exist, and files that do not name a section of the row.
fn faults(rules: &BTreeSet<String>, cell: &str) -> Vec<String> {
    let sections: BTreeSet<&str> = rules
        .iter()
        .map(|rule| if rule.starts_with("scoring") { "§1" } else { &rule[..='§'.len_utf8()] })
        .collect();
    let mut faults = Vec::new();
    for (path, names) in tests_of(cell) {
        let shown = path.display();
        let full = root().join(&path);
        if full.is_dir() {
            continue;
        }
        let Ok(text) = fs::read_to_string(full) else {
            faults.push(format!("there is no {shown}"));
            continue;
        };
        for name in names {
            let is_there = match name.strip_suffix('…') {
                Some(start) => text.contains(&format!("fn {start}")),
                None => text.contains(&format!("fn {name}(")),
            };
            if !is_there {
                faults.push(format!("{shown} has no test {name}"));
            }
        }
        let names_one = sections.iter().any(|section| names_section(&text, section));
        if path.starts_with(Path::new("tests")) && !sections.is_empty() && !names_one {
            faults.push(format!("{shown} names none of {sections:?}"));
        }
    }
    faults
}

#[test]
fn each_rule_of_the_specification_names_its_tests() -> Result<()> {
    let text = fs::read_to_string(root().join(SPEC))?;
    let (specification, table) = text.split_once(TABLE).context("no table")?;
    let rules = rules(specification);
    ensure!(rules.len() > 30, "the rules are elsewhere: {rules:?}");
    let mut wrong = BTreeMap::new();
    let mut covered = BTreeSet::new();
    for (first, second) in rows(table) {
        let named = named(first);
        let mut faults = faults(&named, second);
        if tests_of(second).is_empty() {
            faults.push("no tests are named".to_owned());
        }
        if !faults.is_empty() {
            wrong.insert(first, faults);
        }
        covered.extend(named);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let missing: Vec<_> = rules.difference(&covered).collect();
    assert!(missing.is_empty(), "no row of {SPEC} names the tests of {missing:?}");
    Ok(())
}

/// The rules that the name of a test names: `§3.2` and `§3.3` for `spec_3_rules_2_and_3_…`, `scoring 5` for
/// `scoring_rule_5_…`. A rule without a section is none of the document's.
fn rules_of(name: &str) -> Vec<String> {
    let Some((before, after)) = name.split_once("rule_").or_else(|| name.split_once("rules_")) else {
        return Vec::new();
    };
    let prefix = match before.strip_prefix("spec_") {
        Some(section) => format!("§{}.", section.trim_end_matches('_')),
        None => before.replace('_', " "),
    };
    after
        .split('_')
        .take_while(|word| number_of(word).is_some() || JOINING.contains(word))
        .filter_map(number_of)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}

#[test]
fn each_test_that_names_a_rule_names_its_section() -> Result<()> {
    let text = fs::read_to_string(root().join(SPEC))?;
    let rules = rules(&text);
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in [texts("crates", &[".rs"])?, texts("tests", &[".rs"])?].concat() {
        for name in text.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")) {
            let name = name.split(['(', '<']).next().unwrap_or_default();
            let named = rules_of(name);
            seen += named.len();
            if named.iter().any(|rule| !rules.contains(rule)) {
                wrong.push(format!("{path}: {name}"));
            }
        }
    }
    ensure!(seen > 90, "the tests are elsewhere");
    assert!(wrong.is_empty(), "name them `spec_1_rule_2_…` or `scoring_rule_2_…`: {wrong:#?}");
    Ok(())
}

#[test]
fn rules_are_read_from_the_name_of_a_test() {
    assert_eq!(rules_of("spec_3_rules_2_and_3_a_step_pays"), ["§3.2", "§3.3"]);
    assert_eq!(rules_of("scoring_rule_5_a_record_of_2_teams"), ["scoring 5"]);
    assert_eq!(rules_of("rule_5_a_record"), ["5"]);
    assert_eq!(rules_of("the_rules_of_a_row"), [""; 0]);
}

#[test]
fn ranges_of_rules_are_read_from_a_row() {
    let rules = |cell| named(cell).into_iter().collect::<Vec<_>>();
    assert_eq!(rules("§1.7 to §1.9, §5 roles"), ["§1.7", "§1.8", "§1.9", "§5"]);
    assert_eq!(rules("Scoring rules 2 and 3 of 24 teams"), ["scoring 2", "scoring 3"]);
    assert_eq!(rules("§4 Quests: refusals"), ["§4", "§4 Quests"]);
}
