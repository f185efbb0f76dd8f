//! A durable write of the service, in turns with its limits.

use super::{Plan, percentile, rate, shown};
use crate::client::{Sample, Script, drive};
use crate::limit::Limit;
use crate::numbers::{float, median};
use crate::report::{Figure, Quantity, Target};
use crate::server::{Metrics, Terrace};
use crate::writes::Bare;
use anyhow::Result;
use serde_json::json;

/// Server metrics of a run.
pub(super) struct Seen {
    /// Commands per commit on average; 1 if commits are not grouped.
    pub(super) group: f64,
    /// Statements per command, including those of the requests' queries.
    statements: f64,
}

impl Seen {
    pub(super) fn between(before: &Metrics, after: &Metrics) -> Self {
        let grown = |name: &str| after.total(name) - before.total(name);
        let average = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 1.0 };
        Self {
            group: average(grown("terrace_store_group_size_sum"), grown("terrace_store_group_size_count")),
            statements: average(
                grown("terrace_store_statement_seconds_count"),
                grown("terrace_store_command_seconds_count").max(float(1)),
            ),
        }
    }
}

/// Runs of a write, each followed by one of its bare limit and one of the fixed limit.
pub(super) struct Trial {
    bare: Bare,
    pub(super) ours: Vec<Sample>,
    seen: Vec<Seen>,
    limits: Vec<f64>,
}

impl Trial {
    pub(super) const fn new(bare: Bare) -> Self {
        Self { bare, ours: Vec::new(), seen: Vec::new(), limits: Vec::new() }
    }

    /// One run of each. Fails if an answer has another status than these.
    pub(super) fn run(
        &mut self,
        plan: &Plan,
        terrace: &Terrace,
        fixed: &mut Limit,
        statuses: &[u16],
        scripts: Vec<Script>,
    ) -> Result<()> {
        let before = terrace.metrics()?;
        self.ours.push(drive(&plan.load(terrace.served(), statuses), scripts)?);
        let seen = Seen::between(&before, &terrace.metrics()?);
        self.limits.push(self.bare.run(plan)?);
        fixed.run(plan, seen.group)?;
        self.seen.push(seen);
        Ok(())
    }

    /// Requests per second, the median of the runs.
    pub(super) fn rate(&self) -> f64 {
        rate(&self.ours)
    }

    /// The number of answers while it was measured.
    pub(super) fn counted(&self) -> u64 {
        self.ours.iter().map(|sample| sample.latency.count()).sum()
    }

    /// The rate beside that of the bare limit.
    pub(super) fn against_bare(
        &self,
        plan: &Plan,
        (what, database): (&str, &'static str),
        rate: Quantity,
        target: Target,
    ) -> Figure {
        let each = |value: fn(&Seen) -> f64| self.seen.iter().map(value).collect::<Vec<_>>();
        let details = json!({
            "ours": shown(&self.ours),
            "limitPerSecond": self.limits,
            "perCommit": each(|seen| seen.group),
            "statements": each(|seen| seen.statements),
            "recorded": self.bare.recorded(),
            "plan": plan.to_json(),
        });
        Figure::plain(what, database, rate)
            .against(self.bare.name(), median(self.limits.iter().copied()), target)
            .with(details)
    }

    /// The 99th percentile of the time of an answer.
    pub(super) fn p99(&self) -> Quantity {
        Quantity::new(percentile(&self.ours, 990), "ms")
    }

    /// The statements of so many requests.
    pub(super) fn statements(&self, requests: u32) -> Quantity {
        let each = median(self.seen.iter().map(|seen| seen.statements));
        Quantity::new(f64::from(requests) * each, "statements")
    }
}
