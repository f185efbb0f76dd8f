//! What the demonstration fans have points for: drawn from their names, so that it is the same every time. Each fact has a
//! key of its own, so that it pays once, whoever tells of it again.

use crate::demo::demo_graph::number;

/// What demo fans do, and what it is worth.
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

/// Points for a demo fan.
pub(crate) struct DemoAward<'d> {
    pub(crate) fan: &'d str,
    /// What of it is unique among the fan's facts.
    pub(crate) origin: String,
    pub(crate) reason: &'static str,
    pub(crate) amount: i64,
    /// The team that it is for; none for the favourite one.
    pub(crate) team: Option<&'d str>,
    pub(crate) minutes_ago: u32,
}

/// One to five facts for each fan, of fans with their favourite teams; now and then one is for another's team.
pub(crate) fn awards<'d>(fans: &[(&'d str, &'d str)]) -> Vec<DemoAward<'d>> {
    let mut awards = Vec::new();
    for (fan, _) in fans {
        for nth in 0..=number("facts", fan, "") % 5 {
            let nth = nth.to_string();
            let draw = |purpose| number(purpose, fan, &nth);
            let pick = |purpose, of: usize| usize::try_from(draw(purpose)).unwrap_or(0) % of.max(1);
            let Some((reason, amount)) = FACTS.get(pick("fact", FACTS.len())) else { continue };
            let other = fans.get(pick("whose", fans.len())).map(|(_, team)| *team);
            awards.push(DemoAward {
                fan,
                origin: format!("demo/{fan}/{nth}"),
                reason,
                amount: *amount,
                team: other.filter(|_| draw("away") % 5 == 0),
                minutes_ago: u32::try_from(draw("ago") % 180).unwrap_or(0),
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
