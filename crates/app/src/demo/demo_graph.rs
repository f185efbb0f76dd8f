//! Follows of the demonstration content, derived from a fixed seed, so that they are the same every time. Some fans
//! are more popular than others, and fans of one team follow each other.

/// Seed of all draws.
const SEED: u64 = 0x7e44_ace0;
/// Maximum age of a follow in minutes: the age of the demo accounts, less a day.
const WITHIN: u64 = 20 * 24 * 60;

/// A follow of a user or a team.
pub(crate) struct Edge<'d> {
    pub(crate) from: &'d str,
    pub(crate) to: &'d str,
    pub(crate) minutes_ago: u32,
}

/// A number from 0 to 99 that depends on the purpose and the two names.
fn draw(purpose: &str, from: &str, to: &str) -> u64 {
    number(purpose, from, to) % 100
}

/// FNV-1a over the arguments with a final mixing step, because its low digits are similar for similar names.
pub(crate) fn number(purpose: &str, from: &str, to: &str) -> u64 {
    let bytes = [purpose, from, to].into_iter().flat_map(|text| text.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325 ^ SEED, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

fn edge<'d>(from: &'d str, to: &'d str) -> Edge<'d> {
    let minutes_ago = u32::try_from(number("when", from, to) % WITHIN).unwrap_or(0);
    Edge { from, to, minutes_ago }
}

/// The follows between these (fan, favourite team) pairs.
pub(crate) fn follows<'d>(fans: &[(&'d str, &'d str)]) -> Vec<Edge<'d>> {
    let pairs = fans.iter().flat_map(|from| fans.iter().map(move |to| (from, to)));
    let drawn = pairs.filter(|((from, team), (to, their_team))| {
        // From 15 to 64 percent, depending on how popular the followed fan is.
        let wanted = if team == their_team { 80 } else { 15 + draw("popular", to, "") / 2 };
        from != to && draw("follows", from, to) < wanted
    });
    drawn.map(|((from, _), (to, _))| edge(from, to)).collect()
}

/// The team follows: each fan's favourite team, and occasionally another fan's.
pub(crate) fn team_follows<'d>(fans: &[(&'d str, &'d str)]) -> Vec<Edge<'d>> {
    let own = fans.iter().map(|(from, team)| edge(from, team));
    let others = fans.iter().flat_map(|(from, own)| {
        let others = fans.iter().filter(move |(to, team)| team != own && draw("team", from, to) < 4);
        others.map(|(_, team)| edge(from, team))
    });
    own.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everybody_follows_and_is_followed_but_not_by_themselves() {
        let names: Vec<String> = (0..40).map(|n| format!("fan{n}")).collect();
        let fans: Vec<_> = names.iter().map(|name| (name.as_str(), "team")).collect();
        let teams = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let fans: Vec<_> =
            fans.iter().zip(teams.iter().cycle()).map(|((name, _), team)| (*name, *team)).collect();
        let edges = follows(&fans);
        let pairs: BTreeSet<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(pairs.len(), edges.len());
        assert!(pairs.iter().all(|(from, to)| from != to));
        for (name, _) in &fans {
            let (out, into) = (
                pairs.iter().filter(|(from, _)| from == name).count(),
                pairs.iter().filter(|(_, to)| to == name).count(),
            );
            assert!((8..35).contains(&out) && (3..39).contains(&into), "{name}: {out}, {into}");
        }
        assert!(edges.iter().all(|edge| u64::from(edge.minutes_ago) < WITHIN));
        let followed = team_follows(&fans);
        for fan in &fans {
            assert!(followed.iter().any(|edge| (edge.from, edge.to) == *fan));
        }
        assert!(followed.len() > fans.len());
    }
}
