//! Compares a read with the bare handler that returns the same bytes: interleaved runs, the median of each side.

use super::{Plan, cpu, percentile, rate, shown};
use crate::bare::Bare;
use crate::client::{Sample, drive, in_turn};
use crate::report::{Figure, Quantity, Target};
use crate::server::Terrace;
use crate::world::Ground;
use anyhow::{Context, Result, bail};
use serde_json::json;

/// A read to be measured.
#[derive(Clone)]
pub(super) struct Read<'a> {
    pub(super) what: String,
    pub(super) database: &'static str,
    pub(super) path: &'a str,
    /// The requests that each connection sends in turn; their responses are alike.
    pub(super) requests: &'a [Vec<Vec<u8>>],
    pub(super) status: u16,
    pub(super) target: Target,
}

/// Above this share of the bare handler's rate, the client may be the bottleneck.
const CLIENT_DECIDES: f64 = 0.5;

impl Read<'_> {
    /// Two figures: the rate compared with the bare handler's, and the 99th percentile of the latency.
    pub(super) fn run(self, ground: &Ground, plan: &Plan, terrace: &Terrace) -> Result<Vec<Figure>> {
        log::info!("{}", self.what);
        let Some(first) = self.requests.first().and_then(|requests| requests.first()) else {
            bail!("a read needs a request")
        };
        let answer = terrace.caller()?.expect(self.status, first).context("the read itself fails")?;
        let bare = Bare::start(ground.folder(), self.path, &answer, ground.program().workers)?;
        bare.check(first, &answer)?;
        let statuses = [self.status];
        let (mut ours, mut limit): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
        for _ in 0..plan.runs {
            let scripts = || self.requests.iter().cloned().map(in_turn).collect();
            ours.push(drive(&plan.load(terrace.served(), &statuses), scripts())?);
            limit.push(drive(&plan.load(bare.served(), &statuses), scripts())?);
        }
        Ok(self.figures(plan, &ours, &limit, answer.body.len()))
    }

    fn figures(self, plan: &Plan, ours: &[Sample], limit: &[Sample], bytes: usize) -> Vec<Figure> {
        let by_rate = rate(ours) / rate(limit);
        let by_cpu = cpu(limit) / cpu(ours);
        let details = json!({
            "ours": shown(ours),
            "bare": shown(limit),
            "ratioByRate": by_rate,
            "ratioByCpu": by_cpu,
            "bodyBytes": bytes,
            "plan": plan.to_json(),
        });
        let client_decides = by_rate > CLIENT_DECIDES;
        let figure = if client_decides {
            let measured = Quantity::new(cpu(ours), "µs of CPU a request");
            Figure::plain(self.what.clone(), self.database, measured)
                .against("bare handler", cpu(limit), self.target)
                .by(by_cpu)
        } else {
            let measured = Quantity::new(rate(ours), "requests/s");
            Figure::plain(self.what.clone(), self.database, measured).against(
                "bare handler",
                rate(limit),
                self.target,
            )
        };
        let slow = Quantity::new(percentile(ours, 990), "ms");
        vec![
            figure.with(details),
            Figure::plain(format!("{}, p99", self.what), self.database, slow).against(
                "bare handler",
                percentile(limit, 990),
                Target::Unset,
            ),
        ]
    }
}
