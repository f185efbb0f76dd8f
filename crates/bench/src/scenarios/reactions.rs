//! Durable reactions to posts, compared with the fixed limit.

use super::posts::PATH;
use super::trial::Seen;
use super::{Plan, for_each_fan, percentile, rate, shown};
use crate::client::{Script, drive};
use crate::http;
use crate::limit::Limit;
use crate::report::{Figure, Quantity, Target};
use crate::rows;
use crate::server::Terrace;
use crate::world::{FANS, World};
use anyhow::{Result, ensure};
use serde_json::json;
use uuid::Uuid;

/// The minimum share of the rate of the fixed limit.
const TARGET: Target = Target::AtLeast(0.4);
/// The kinds of reaction that no bulk row has.
const KINDS: [&str; 5] = ["love", "fire", "clap", "laugh", "sad"];
const CONNECTIONS: u64 = 32;

/// Each run uses other posts. Every fan reacts once to each of them; only then do they change the kind of their
/// reactions, so that every request writes.
pub(super) fn run(plan: &Plan, world: &World, terrace: &Terrace, limit: &mut Limit) -> Result<Vec<Figure>> {
    log::info!("reactions");
    let count = || world.number("SELECT count(*) FROM reactions WHERE kind <> 'like'");
    let block = plan.small / u64::try_from(plan.runs)?;
    let (mut ours, mut least, before) = (Vec::new(), 0, count()?);
    for (first, _) in (0..).step_by(usize::try_from(block)?).zip(0..plan.runs) {
        let unmeasured = terrace.metrics()?;
        let scripts = for_each_fan(|fan| Ok(reacting(world.cookie(fan)?, first, block, fan)))?;
        let sample = drive(&plan.load(terrace.served(), &[200]), scripts)?;
        least += sample.answered.min(block * CONNECTIONS);
        ours.push(sample);
        limit.run(plan, Seen::between(&unmeasured, &terrace.metrics()?).group)?;
    }
    let written = count()? - before;
    ensure!(written >= least, "{least} reactions were acknowledged and {written} are there");
    let what = format!("POST {PATH}/{{id}}/react, {FANS} connections, durable");
    let details = json!({"ours": shown(&ours), "plan": plan.to_json()});
    let slow = Quantity::new(percentile(&ours, 990), "ms");
    Ok(vec![
        limit.figure(&what, rate(&ours), "reactions/s", TARGET).with(details),
        Figure::plain(format!("{what}, p99"), world.kind().name(), slow),
    ])
}

/// An endless sequence of reactions of one fan to the `block` posts from `first` on; connections start far apart.
fn reacting(cookie: &str, first: u64, block: u64, connection: usize) -> Script {
    let cookie = cookie.to_owned();
    let start = u64::try_from(connection).unwrap_or(0) * (block / CONNECTIONS);
    let (mut next, mut kinds) = (0, KINDS.iter().cycle());
    let mut kind = "";
    Box::new(move |buffer| {
        if next % block == 0 {
            kind = kinds.next().copied().unwrap_or_default();
        }
        let post = Uuid::from_u128(rows::post(first + (start + next) % block));
        next += 1;
        let (path, body) = (format!("{PATH}/{post}/react"), format!("{{\"kind\":\"{kind}\"}}"));
        buffer.extend(http::request("POST", &path, &[("Cookie", &cookie)], Some(&body)));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reaction_is_repeated() {
        let mut scripts: Vec<Script> = (0..FANS).map(|fan| reacting("session=a", 5, 64, fan)).collect();
        for script in &mut scripts {
            let mut sent = std::collections::BTreeSet::new();
            for _ in 0..64 * KINDS.len() {
                let mut request = Vec::new();
                script(&mut request);
                assert!(sent.insert(request));
            }
        }
    }
}
