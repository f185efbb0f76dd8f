//! Compares a run with an earlier one.

use crate::report::{Figure, Quantity};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Smaller relative changes of a figure are within the variation between runs.
const NOTICEABLE: f64 = 0.05;

/// The figures of an earlier run, as written by `--json`.
pub(crate) struct Earlier(Vec<Value>);

impl Earlier {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let runs = serde_json::from_str(&text)
            .with_context(|| format!("{} is not what `--json` writes", file.display()))?;
        Ok(Self(runs))
    }

    /// The earlier value of a figure.
    fn value(&self, scenario: &str, figure: &Figure) -> Option<f64> {
        let text = |value: &Value, name: &str, is: &str| value.get(name).and_then(Value::as_str) == Some(is);
        let results = self.0.iter().filter_map(|run| run.get("result"));
        let of_scenario = results.filter(|result| text(result, "scenario", scenario));
        let figures = of_scenario.filter_map(|result| result.get("figures")?.as_array()).flatten();
        let same = |value: &&Value| {
            text(value, "what", &figure.what)
                && text(value, "database", figure.database)
                && text(value, "unit", figure.measured.unit)
        };
        figures.into_iter().find(same)?.get("measured")?.as_f64()
    }

    /// A line for each figure: the earlier value, the current value, and the change.
    pub(crate) fn compare(&self, scenario: &str, figures: &[Figure]) -> String {
        let mut lines = format!("{scenario}, then and now:\n");
        for figure in figures {
            let Quantity { value: now, unit } = figure.measured;
            let what = format!("{} ({})", figure.what, figure.database);
            let line = match self.value(scenario, figure) {
                None => format!("  {what}: {}; not measured then\n", figure.measured.shown()),
                Some(then) => {
                    let change = if then == 0.0 { 0.0 } else { now / then - 1.0 };
                    let mark = if change.abs() < NOTICEABLE { " (as before)" } else { "" };
                    let then = Quantity::new(then, unit).shown();
                    let percent = change * 100.0;
                    format!("  {what}: {then} → {}, {percent:+.0} %{mark}\n", figure.measured.shown())
                }
            };
            lines.push_str(&line);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report;
    use serde_json::json;

    fn figure(what: &str, value: f64) -> Figure {
        Figure::plain(what, "SQLite", Quantity::new(value, "posts/s"))
    }

    #[test]
    fn figures_are_distinguished_by_name_database_and_unit() {
        let then = json!([{"result": report::to_json("posts", &[figure("a", 100.0), figure("b", 0.0)])}]);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), then.to_string()).unwrap();
        let earlier = Earlier::read(file.path()).unwrap();
        let text = earlier.compare("posts", &[figure("a", 150.0), figure("b", 1.0), figure("c", 2.0)]);
        assert!(text.contains("a (SQLite): 100 posts/s → 150 posts/s, +50 %\n"), "{text}");
        assert!(text.contains("b (SQLite): 0.00 posts/s → 1.00 posts/s, +0 % (as before)"), "{text}");
        assert!(text.contains("c (SQLite): 2.00 posts/s; not measured then"), "{text}");
        assert!(earlier.compare("feed", &[figure("a", 1.0)]).contains("not measured then"));
    }

    #[test]
    fn another_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "no figures").unwrap();
        assert!(Earlier::read(file.path()).is_err());
        assert!(Earlier::read(Path::new("/nowhere/to/be/found")).is_err());
    }
}
