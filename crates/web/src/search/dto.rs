//! The results of a search.

use crate::dto::UserCard;
use crate::room::dto::Post;
use crate::teams::dto::Team;
use serde::Serialize;
use terrace_social::Tag;
use utoipa::ToSchema;

/// A kind of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum SearchKind {
    Users,
    Teams,
    Posts,
    Topics,
}

impl SearchKind {
    pub(crate) const ALL: [Self; 4] = [Self::Users, Self::Teams, Self::Posts, Self::Topics];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Teams => "teams",
            Self::Posts => "posts",
            Self::Topics => "topics",
        }
    }
}

/// A topic that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundTopic {
    /// The hashtag without its `#`, in lower case.
    #[schema(example = "matchday")]
    tag: String,
}

impl From<&Tag> for FoundTopic {
    fn from(tag: &Tag) -> Self {
        Self { tag: tag.as_str().to_owned() }
    }
}

/// The results of a search, of the requested kinds only.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchResults {
    /// Fans with a name that begins with the text: exact names first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) users: Option<Vec<UserCard>>,
    /// Teams with a name that begins with the text: exact names first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) teams: Option<Vec<Team>>,
    /// Posts that contain the words of the text, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) posts: Option<Vec<Post>>,
    /// Topics of posts that begin with the text, by tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) topics: Option<Vec<FoundTopic>>,
    /// The cursor of the next page, if one kind was requested; null on the last page, and for several kinds.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}
