//! In which order tasks run: what each comes after is before it, whatever was asked for. No database, no clock.

use std::collections::BTreeMap;

/// A task as its order sees it: its name, and the names of those that must have run before it.
pub(super) type Entry = (&'static str, &'static [&'static str]);

/// Why there is no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// A task comes after itself, by this way.
    #[error("tasks that come after themselves: {}", .0.join(" after "))]
    Cycle(Vec<&'static str>),
    /// A task comes after one that there is not.
    #[error("the task {task} comes after {after}, and there is no such task")]
    NoSuchTask {
        /// The task.
        task: &'static str,
        /// What it comes after.
        after: &'static str,
    },
    /// Two tasks have one name.
    #[error("there are two tasks {0}")]
    Twice(&'static str),
}

/// The tasks that are wanted with everything that they come after, each once and behind what it comes after. What could
/// stand either way stands as it is declared, so that two runs of the same tasks are in the same order.
///
/// # Errors
///
/// When what is declared has no order, also where nothing of that is wanted: it is a defect of the catalogue. Names that
/// are wanted and not declared are left out.
pub(super) fn in_order(declared: &[Entry], wanted: &[&str]) -> Result<Vec<&'static str>, OrderFault> {
    let mut places = BTreeMap::new();
    for (place, (name, _)) in declared.iter().enumerate() {
        if places.insert(*name, place).is_some() {
            return Err(OrderFault::Twice(name));
        }
    }
    // All of it, wanted or not: what is wrong with the catalogue shows at once.
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

/// A walk from tasks to what they come after.
struct Walk<'a> {
    declared: &'a [Entry],
    places: &'a BTreeMap<&'static str, usize>,
    /// From what is wanted down to where it is.
    way: Vec<&'static str>,
    /// What has its place in the order.
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

/// The one of these names that somebody who typed `word` may have meant: it begins with it or holds it, or is two slips
/// of the finger away.
pub(super) fn nearest(names: &[&'static str], word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let holds = |name: &&&'static str| !word.is_empty() && name.contains(word.as_str());
    let close =
        || names.iter().map(|name| (slips(name, &word), *name)).filter(|(slips, _)| *slips <= 2).min();
    names.iter().find(holds).copied().or_else(|| close().map(|(_, name)| name))
}

/// How many letters must be put, taken or changed to make one word of another.
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
    fn rule_13_what_a_task_comes_after_is_before_it_and_runs_with_it() {
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
