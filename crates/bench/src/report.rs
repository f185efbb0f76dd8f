//! Figures, the values that they are compared with, and the table that shows them.

use serde_json::{Value, json};

/// A measured value with its unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
}

impl Quantity {
    pub(crate) const fn new(value: f64, unit: &'static str) -> Self {
        Self { value, unit }
    }

    pub(crate) fn shown(&self) -> String {
        format!("{} {}", number(self.value), self.unit)
    }
}

/// Three significant digits, or all digits before the decimal point, grouped.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let (digits, fraction) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}

/// The required value of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// At least this share of a limit.
    AtLeast(f64),
    /// At most this multiple of another cost.
    AtMost(f64),
    /// No target.
    Unset,
}

/// The result of comparing a figure with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    FellShort,
    NoTarget,
}

impl Verdict {
    const fn shown(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::FellShort => "**fell short**",
            Self::NoTarget => "–",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) database: &'static str,
    pub(crate) measured: Quantity,
    /// The name and the value of what it is compared with.
    pub(crate) against: Option<(String, Quantity)>,
    pub(crate) ratio: Option<f64>,
    pub(crate) target: Target,
    /// All other measured values.
    pub(crate) details: Value,
}

impl Figure {
    /// A figure without a comparison.
    pub(crate) fn plain(what: impl Into<String>, database: &'static str, measured: Quantity) -> Self {
        Self {
            what: what.into(),
            database,
            measured,
            against: None,
            ratio: None,
            target: Target::Unset,
            details: Value::Null,
        }
    }

    /// Compares it with a value of the same unit.
    pub(crate) fn against(mut self, name: impl Into<String>, value: f64, target: Target) -> Self {
        self.ratio = (value > 0.0).then(|| self.measured.value / value);
        self.against = Some((name.into(), Quantity::new(value, self.measured.unit)));
        self.target = target;
        self
    }

    /// Replaces the ratio of the two values by another one.
    pub(crate) fn by(mut self, ratio: f64) -> Self {
        self.ratio = ratio.is_finite().then_some(ratio);
        self
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// A target without a ratio counts as missed.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_met = match self.target {
            Target::Unset => return Verdict::NoTarget,
            Target::AtLeast(least) => self.ratio.is_some_and(|ratio| ratio >= least),
            Target::AtMost(most) => self.ratio.is_some_and(|ratio| ratio <= most),
        };
        if is_met { Verdict::Met } else { Verdict::FellShort }
    }

    fn cells(&self) -> [String; 7] {
        let none = || "–".to_owned();
        let against = self.against.as_ref();
        let factor = |ratio: f64| format!("{ratio:.2} ×");
        let share = |ratio: f64| format!("{:.0} %", ratio * 100.0);
        let ratio = self.ratio.map(|ratio| match self.target {
            Target::AtMost(_) => factor(ratio),
            Target::AtLeast(_) | Target::Unset => share(ratio),
        });
        let target = match self.target {
            Target::AtLeast(least) => format!("≥ {}", share(least)),
            Target::AtMost(most) => format!("≤ {}", factor(most)),
            Target::Unset => none(),
        };
        [
            self.what.clone(),
            self.database.to_owned(),
            self.measured.shown(),
            against.map_or_else(none, |(name, value)| format!("{name}: {}", value.shown())),
            ratio.unwrap_or_else(none),
            target,
            self.verdict().shown().to_owned(),
        ]
    }

    fn to_json(&self) -> Value {
        let against = self.against.as_ref();
        let (kind, bound) = match self.target {
            Target::AtLeast(least) => (Some("atLeast"), Some(least)),
            Target::AtMost(most) => (Some("atMost"), Some(most)),
            Target::Unset => (None, None),
        };
        json!({
            "what": self.what,
            "database": self.database,
            "measured": self.measured.value,
            "unit": self.measured.unit,
            "against": against.map(|(name, value)| json!({"what": name, "value": value.value})),
            "ratio": self.ratio,
            "target": kind.map(|kind| json!({"kind": kind, "ratio": bound})),
            "met": match self.verdict() {
                Verdict::Met => Some(true),
                Verdict::FellShort => Some(false),
                Verdict::NoTarget => None,
            },
            "details": self.details,
        })
    }
}

const HEADINGS: [&str; 7] = ["Figure", "Database", "Measured", "Compared with", "Ratio", "Target", "Verdict"];

/// A Markdown table whose columns are also aligned on a terminal.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(figures.iter().map(Figure::cells));
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let rule = widths.map(|width| "-".repeat(width));
    rows.insert(1, rule);
    let line = |row: [String; 7]| {
        let cells = row.into_iter().zip(widths).map(|(cell, width)| format!("| {cell:<width$} "));
        format!("{}|\n", cells.collect::<String>())
    };
    rows.into_iter().map(line).collect()
}

/// The figures of a scenario as JSON.
pub(crate) fn to_json(scenario: &str, figures: &[Figure]) -> Value {
    json!({"scenario": scenario, "figures": figures.iter().map(Figure::to_json).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(measured: f64, limit: f64, target: Target) -> Figure {
        Figure::plain("pages", "SQLite", Quantity::new(measured, "requests/s")).against("bare", limit, target)
    }

    #[test]
    fn numbers_have_three_digits_and_groups() {
        for (value, shown) in [
            (0.0, "0.00"),
            (1.0 / 3.0, "0.33"),
            (9.999, "10.0"),
            (54.321, "54.3"),
            (99.96, "100"),
            (999.4, "999"),
            (12_345.6, "12,346"),
            (1_234_567.0, "1,234,567"),
            (-123.4, "-123"),
            (-1234.0, "-1,234"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn a_target_is_met_at_its_bound_and_not_beyond() {
        for (measured, target, verdict) in [
            (30.0, Target::AtLeast(0.3), Verdict::Met),
            (29.9, Target::AtLeast(0.3), Verdict::FellShort),
            (130.0, Target::AtMost(1.3), Verdict::Met),
            (130.1, Target::AtMost(1.3), Verdict::FellShort),
            (1.0, Target::Unset, Verdict::NoTarget),
        ] {
            assert_eq!(figure(measured, 100.0, target).verdict(), verdict, "{measured} {target:?}");
        }
    }

    #[test]
    fn what_cannot_be_compared_has_not_met_its_target() {
        assert_eq!(figure(1.0, 0.0, Target::AtLeast(0.3)).verdict(), Verdict::FellShort);
        assert_eq!(figure(1.0, 1.0, Target::AtMost(1.3)).by(f64::NAN).verdict(), Verdict::FellShort);
    }

    #[test]
    fn the_table_stands_in_columns() {
        let table = table(&[
            figure(2_500.0, 10_000.0, Target::AtLeast(0.3)),
            Figure::plain("memory", "PostgreSQL", Quantity::new(81.25, "MiB")),
        ]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{table}");
        assert!(
            lines[2]
                .contains("| 2,500 requests/s | bare: 10,000 requests/s | 25 %  | ≥ 30 % | **fell short** |")
        );
        assert!(lines[3].starts_with("| memory | PostgreSQL | 81.2 MiB"), "{table}");
    }

    #[test]
    fn json_states_whether_a_target_was_met() {
        let value = to_json("feed", &[figure(5.0, 10.0, Target::AtLeast(0.3))]);
        assert_eq!(value.pointer("/figures/0/met"), Some(&Value::Bool(true)));
        assert_eq!(value.pointer("/figures/0/target/kind"), Some(&json!("atLeast")));
    }
}
