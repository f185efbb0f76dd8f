//! Whom to follow.

use crate::dto::UserCard;
use serde::Serialize;
use terrace_app::{Suggestion, SuggestionReason};
use utoipa::ToSchema;

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
    /// The reason for clients with their own texts: `followed_by`, `follows_you`, `supports_team`,
    /// `followed_by_alike`, `popular_in_team`, `popular_in_league`, `popular` or `active`. More may be added.
    #[schema(example = "followed_by")]
    reason_kind: &'static str,
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
            reason_kind,
        }
    }
}

/// The kind, and the words.
fn described(reason: &SuggestionReason) -> (&'static str, String) {
    match reason {
        SuggestionReason::FollowedBy(1) => ("followed_by", "followed by someone you follow".to_owned()),
        SuggestionReason::FollowedBy(count) => {
            ("followed_by", format!("followed by {count} people you follow"))
        }
        SuggestionReason::FollowsYou => ("follows_you", "follows you".to_owned()),
        SuggestionReason::SupportsTeam(team) => ("supports_team", format!("also supports {team}")),
        SuggestionReason::FollowedByAlike => {
            ("followed_by_alike", "followed by people with similar follows".to_owned())
        }
        SuggestionReason::PopularInTeam(team) => {
            ("popular_in_team", format!("popular with supporters of {team}"))
        }
        SuggestionReason::PopularInLeague(league) => ("popular_in_league", format!("popular in {league}")),
        SuggestionReason::Popular => ("popular", "popular here".to_owned()),
        SuggestionReason::Active => ("active", "was here lately".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_words() {
        for (reason, kind, words) in [
            (SuggestionReason::FollowedBy(1), "followed_by", "followed by someone you follow"),
            (SuggestionReason::FollowedBy(3), "followed_by", "followed by 3 people you follow"),
            (SuggestionReason::SupportsTeam("Foxes".into()), "supports_team", "also supports Foxes"),
            (SuggestionReason::PopularInLeague("North".into()), "popular_in_league", "popular in North"),
        ] {
            assert_eq!(described(&reason), (kind, words.to_owned()));
        }
    }
}
