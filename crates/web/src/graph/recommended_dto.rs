//! Whom to follow.

use crate::dto::{UserCard, open_set};
use serde::Serialize;
use terrace_app::{Suggestion, SuggestionReason};
use utoipa::ToSchema;

/// A kind of reason to recommend a fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReasonKind {
    /// People that the caller follows follow the fan.
    FollowedBy,
    /// The fan follows the caller.
    FollowsYou,
    /// The fan supports a team of the caller.
    SupportsTeam,
    /// People with similar follows follow the fan.
    FollowedByAlike,
    /// Supporters of a team of the caller follow the fan.
    PopularInTeam,
    /// Supporters of teams in a league of the caller follow the fan.
    PopularInLeague,
    /// Many follow the fan.
    Popular,
    /// The fan was here lately.
    Active,
}

open_set! {
    /// The reason of a recommendation, for clients with their own texts.
    OpenReasonKind of ReasonKind
}

/// A recommended fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recommended {
    /// The fan.
    user: UserCard,
    /// The number of people followed by the caller who follow the fan.
    mutual_count: u32,
    /// The reason as a text that completes a sentence about the fan.
    #[schema(example = "followed by 3 people you follow")]
    reason: String,
    #[schema(inline)]
    reason_kind: OpenReasonKind,
}

/// People to follow, best first.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecommendedList {
    /// The people; fewer than requested if there are no more.
    pub(crate) users: Vec<Recommended>,
}

impl From<&Suggestion> for Recommended {
    fn from(suggestion: &Suggestion) -> Self {
        let (reason_kind, reason) = described(&suggestion.reason);
        Self {
            user: UserCard::from(&suggestion.card),
            mutual_count: suggestion.mutual_count,
            reason,
            reason_kind: OpenReasonKind(reason_kind),
        }
    }
}

/// The kind, and the words.
fn described(reason: &SuggestionReason) -> (ReasonKind, String) {
    match reason {
        SuggestionReason::FollowedBy(1) => {
            (ReasonKind::FollowedBy, "followed by someone you follow".to_owned())
        }
        SuggestionReason::FollowedBy(count) => {
            (ReasonKind::FollowedBy, format!("followed by {count} people you follow"))
        }
        SuggestionReason::FollowsYou => (ReasonKind::FollowsYou, "follows you".to_owned()),
        SuggestionReason::SupportsTeam(team) => (ReasonKind::SupportsTeam, format!("also supports {team}")),
        SuggestionReason::FollowedByAlike => {
            (ReasonKind::FollowedByAlike, "followed by people with similar follows".to_owned())
        }
        SuggestionReason::PopularInTeam(team) => {
            (ReasonKind::PopularInTeam, format!("popular with supporters of {team}"))
        }
        SuggestionReason::PopularInLeague(league) => {
            (ReasonKind::PopularInLeague, format!("popular in {league}"))
        }
        SuggestionReason::Popular => (ReasonKind::Popular, "popular here".to_owned()),
        SuggestionReason::Active => (ReasonKind::Active, "was here lately".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_words() {
        for (reason, kind, words) in [
            (SuggestionReason::FollowedBy(1), ReasonKind::FollowedBy, "followed by someone you follow"),
            (SuggestionReason::FollowedBy(3), ReasonKind::FollowedBy, "followed by 3 people you follow"),
            (SuggestionReason::SupportsTeam("Foxes".into()), ReasonKind::SupportsTeam, "also supports Foxes"),
            (
                SuggestionReason::PopularInLeague("North".into()),
                ReasonKind::PopularInLeague,
                "popular in North",
            ),
        ] {
            assert_eq!(described(&reason), (kind, words.to_owned()));
        }
    }
}
