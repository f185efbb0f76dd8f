//! Points of the demonstration fans, derived from their names, so that they are the same every time. Each fact has
//! its own key, so that it pays once.

use crate::demo::DEMO_FAN;
use crate::demo::demo_graph::number;
use terrace_kernel::num;

/// Demo facts and their points.
const FACTS: [(&str, i64); 8] = [
    ("Visited the dashboard", 5),
    ("Answered the quiz of the week", 15),
    ("Checked in at the ground", 50),
    ("Called the score right", 30),
    ("Watched the match with friends", 20),
    ("Brought a friend along", 40),
    ("Won a round of trivia", 25),
    ("Away day", 75),
];

/// An award for a demo fan.
pub(crate) struct DemoAward<'d> {
    pub(crate) fan: &'d str,
    /// Import key of the fact, unique among the fan's facts.
    pub(crate) origin: String,
    pub(crate) reason: &'static str,
    pub(crate) amount: i64,
    /// The team of the award; `None` for the favourite team.
    pub(crate) team: Option<&'d str>,
    pub(crate) minutes_ago: u32,
}

/// One to five facts for each of these (fan, favourite team) pairs; about one in five is for another fan's team.
pub(crate) fn awards<'d>(fans: &[(&'d str, &'d str)]) -> Vec<DemoAward<'d>> {
    let mut awards = Vec::new();
    for (fan, _) in fans {
        if *fan == DEMO_FAN {
            // Enough to buy packs with.
            let (origin, reason) = (format!("demo/{fan}/coach"), "Organised the away day coach");
            awards.push(DemoAward { fan, origin, reason, amount: 250, team: None, minutes_ago: 175 });
        }
        for nth in 0..=number("facts", fan, "") % 5 {
            let nth = nth.to_string();
            let draw = |purpose| number(purpose, fan, &nth);
            let pick = |purpose, of: usize| num::to_usize(draw(purpose)) % of.max(1);
            let Some((reason, amount)) = FACTS.get(pick("fact", FACTS.len())) else { continue };
            let other = fans.get(pick("whose", fans.len())).map(|(_, team)| *team);
            awards.push(DemoAward {
                fan,
                origin: format!("demo/{fan}/{nth}"),
                reason,
                amount: *amount,
                team: other.filter(|_| draw("away").is_multiple_of(5)),
                minutes_ago: num::to_u32(draw("ago") % 180),
            });
        }
    }
    awards
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use terrace_scoring::SourceKey;

    #[test]
    fn everybody_has_points_for_facts_of_their_own() {
        let names: Vec<String> = (0..30).map(|n| format!("a_demo.fan{n}")).collect();
        let fans: Vec<_> = names
            .iter()
            .zip(["a", "b", "c"].iter().cycle())
            .map(|(name, team)| (name.as_str(), *team))
            .collect();
        let awards = awards(&fans);
        assert!(awards.len() > 60, "{}", awards.len());
        let keys: BTreeSet<_> =
            awards.iter().map(|award| SourceKey::import(&award.origin).unwrap().to_string()).collect();
        assert_eq!(keys.len(), awards.len());
        assert!(fans.iter().all(|(name, _)| awards.iter().any(|award| award.fan == *name)));
        assert!(awards.iter().any(|award| award.team.is_some()));
        assert!(awards.iter().all(|award| terrace_scoring::reason(award.reason).is_ok()));
    }
}
