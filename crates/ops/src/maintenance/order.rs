//! Execution order of tasks: dependencies run first, regardless of the order in which tasks were requested. Pure,
//! without database and clock.

use std::collections::BTreeMap;

/// A task with its name and the names of the tasks that it depends on.
pub(super) type Entry = (&'static str, &'static [&'static str]);

/// Why there is no valid order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// The tasks depend on each other in a cycle, listed here.
    #[error("tasks that come after themselves: {}", .0.join(" after "))]
    Cycle(Vec<&'static str>),
    /// A task depends on one that does not exist.
    #[error("the task {task} comes after {after}, and there is no such task")]
    NoSuchTask {
        /// Name of the task.
        task: &'static str,
        /// Name of the missing task.
        after: &'static str,
    },
    /// Two tasks have the same name.
    #[error("there are two tasks {0}")]
    Twice(&'static str),
}

/// Returns the selected tasks with all their dependencies, each once and after its dependencies. Independent tasks
/// keep the order of declaration, so that the order is deterministic.
///
/// # Errors
///
/// When the declared tasks have no valid order, even if none of those involved is selected: it is a defect of the
/// catalogue. Selected names that are not declared are ignored.
pub(super) fn in_order(declared: &[Entry], wanted: &[&str]) -> Result<Vec<&'static str>, OrderFault> {
    let mut places = BTreeMap::new();
    for (place, (name, _)) in declared.iter().enumerate() {
        if places.insert(*name, place).is_some() {
            return Err(OrderFault::Twice(name));
        }
    }
    // All declared tasks, selected or not, so that a defect of the catalogue is found at once.
    let mut walk = Walk { declared, places: &places, way: Vec::new(), done: Vec::new() };
    for (name, _) in declared {
        walk.visit(name, name)?;
    }
    let mut walk = Walk { declared, places: &places, way: Vec::new(), done: Vec::new() };
    for (name, _) in declared.iter().filter(|(name, _)| wanted.contains(name)) {
        walk.visit(name, name)?;
    }
    Ok(walk.done)
}

/// A depth-first traversal from tasks to their dependencies.
struct Walk<'a> {
    declared: &'a [Entry],
    places: &'a BTreeMap<&'static str, usize>,
    /// Path from the selected task to the current one.
    way: Vec<&'static str>,
    /// Tasks that already have a place in the order.
    done: Vec<&'static str>,
}

impl Walk<'_> {
    fn visit(&mut self, name: &'static str, from: &'static str) -> Result<(), OrderFault> {
        if self.done.contains(&name) {
            return Ok(());
        }
        if let Some(begin) = self.way.iter().position(|one| *one == name) {
            let circle = self.way.iter().skip(begin).copied().chain([name]);
            return Err(OrderFault::Cycle(circle.collect()));
        }
        let entry = self.places.get(name).and_then(|place| self.declared.get(*place));
        let Some((_, after)) = entry else {
            return Err(OrderFault::NoSuchTask { task: from, after: name });
        };
        let mut before: Vec<&'static str> = after.to_vec();
        before.sort_by_key(|one| self.places.get(one).copied());
        self.way.push(name);
        for one in before {
            self.visit(one, name)?;
        }
        self.way.pop();
        self.done.push(name);
        Ok(())
    }
}

/// Returns the name most similar to `word`: one that contains it, or one within an edit distance of two.
pub(super) fn nearest(names: &[&'static str], word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let holds = |name: &&&'static str| !word.is_empty() && name.contains(word.as_str());
    let close =
        || names.iter().map(|name| (slips(name, &word), *name)).filter(|(slips, _)| *slips <= 2).min();
    names.iter().find(holds).copied().or_else(|| close().map(|(_, name)| name))
}

/// Edit distance (Levenshtein) between two words.
fn slips(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (nth, letter) in one.chars().enumerate() {
        let mut next = vec![nth + 1];
        for ((above, corner), known) in row.iter().skip(1).zip(&row).zip(&other) {
            let left = next.last().copied().unwrap_or_default();
            next.push((above + 1).min(left + 1).min(corner + usize::from(letter != *known)));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: [Entry; 6] = [
        ("ranks", &["totals", "seasons"]),
        ("totals", &["seasons"]),
        ("sweep", &[]),
        ("seasons", &[]),
        ("prizes", &["ranks"]),
        ("topics", &[]),
    ];

    fn order(wanted: &[&str]) -> Vec<&'static str> {
        in_order(&TASKS, wanted).unwrap()
    }

    /// Spec §1 rule 13: for some repairs the order of execution matters.
    #[test]
    fn spec_1_rule_13_what_a_task_comes_after_is_before_it_and_runs_with_it() {
        assert_eq!(order(&["sweep"]), ["sweep"]);
        assert_eq!(order(&["ranks"]), ["seasons", "totals", "ranks"]);
        assert_eq!(order(&["topics", "prizes"]), ["seasons", "totals", "ranks", "prizes", "topics"]);
        assert_eq!(order(&[]), Vec::<&str>::new());
        let all: Vec<&str> = TASKS.iter().map(|(name, _)| *name).collect();
        assert_eq!(order(&all), ["seasons", "totals", "ranks", "sweep", "prizes", "topics"]);
    }

    #[test]
    fn the_order_is_the_same_however_it_is_asked_for() {
        let all: Vec<&str> = TASKS.iter().map(|(name, _)| *name).collect();
        let mut turned = all.clone();
        for _ in &all {
            turned.rotate_left(1);
            assert_eq!(order(&turned), order(&all));
        }
        assert_eq!(order(&["sweep", "sweep"]), ["sweep"]);
    }

    #[test]
    fn what_has_no_order_is_refused_wanted_or_not() {
        let circle: [Entry; 4] = [("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &[])];
        let fault = in_order(&circle, &["d"]).unwrap_err();
        assert_eq!(fault, OrderFault::Cycle(vec!["b", "c", "b"]));
        assert_eq!(fault.to_string(), "tasks that come after themselves: b after c after b");
        assert_eq!(in_order(&[("a", &["a"])], &[]), Err(OrderFault::Cycle(vec!["a", "a"])));
        let astray = in_order(&[("a", &["z"])], &["a"]);
        assert_eq!(astray, Err(OrderFault::NoSuchTask { task: "a", after: "z" }));
        assert_eq!(in_order(&[("a", &[]), ("a", &[])], &[]), Err(OrderFault::Twice("a")));
    }

    #[test]
    fn a_slip_of_the_finger_is_seen() {
        let names = ["repair-points", "sweep-events", "seasons"];
        for (word, meant) in [
            ("repair-point", Some("repair-points")),
            ("events", Some("sweep-events")),
            ("saesons", Some("seasons")),
            ("Seasons", Some("seasons")),
            ("everything", None),
            ("", None),
        ] {
            assert_eq!(nearest(&names, word), meant, "{word:?}");
        }
        assert_eq!((slips("kitten", "sitting"), slips("", "abc"), slips("abc", "")), (3, 3, 3));
    }
}
