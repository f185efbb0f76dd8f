//! Searches.

use crate::App;
use crate::accounts::NotFound;
use crate::platform::Live;
use crate::search::Newest;
use crate::store::{Query, SearchReadTx, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_identity::{AccountRead, AuthorCard, Team, Username};
use terrace_kernel::{Failure, Limit, Outcome, Page, StoreError, Timestamp, UserId};
use terrace_social::search::{NamePlace, PostPlace, SearchText};
use terrace_social::{PostView, Tag};

/// A kind of resource to search for, and the place after which its page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchIn {
    /// Fans, by username and display name.
    Users(Option<NamePlace>),
    /// Teams, by name and short name.
    Teams(Option<NamePlace>),
    /// Posts, by the words of their texts.
    Posts(Option<PostPlace>),
    /// Topics, by tag.
    Topics(Option<Tag>),
}

/// The results of a search; `None` for kinds that were not searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Fans: exact names first.
    pub users: Option<Page<AuthorCard, NamePlace>>,
    /// Teams: exact names first.
    pub teams: Option<Page<Team, NamePlace>>,
    /// Posts, newest first.
    pub posts: Option<Page<PostView<AuthorCard>, PostPlace>>,
    /// Topics, by tag.
    pub topics: Option<Page<Tag, Tag>>,
}

/// A search for one or more kinds of resources: two statements for fans and for teams, one for topics, and three for
/// posts, or four if many posts contain the words.
#[derive(Debug, Clone)]
pub struct Search {
    pub text: SearchText,
    /// The kinds to search for.
    pub kinds: Vec<SearchIn>,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
    /// Maximum number of results of each kind.
    pub limit: Limit,
}

impl App {
    /// Searches. What is new is found within two seconds.
    ///
    /// # Errors
    ///
    /// When the store is unavailable.
    pub async fn search(&self, search: Search) -> Result<Found, StoreError> {
        into_infallible(self.query(SearchNow { search, newest: Arc::clone(&self.newest_posts) }).await)
    }
}

/// A search with what is known of the newest posts.
struct SearchNow {
    search: Search,
    newest: Arc<Live<Newest>>,
}

impl Query for SearchNow {
    const NAME: &'static str = "search";
    type Ports = dyn SearchReadTx;
    type Output = Found;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SearchReadTx, _now: Timestamp) -> Outcome<Found, Infallible> {
        let Search { text, kinds, reader, limit } = &self.search;
        let (reader, limit) = (*reader, *limit);
        let (name, tag) = (text.name(), text.tag());
        let mut found = Found::default();
        for kind in kinds {
            match kind {
                SearchIn::Users(after) => {
                    found.users = Some(match &name {
                        Some(name) => tx.users_named(name, reader, limit, after.as_ref())?,
                        None => none(),
                    });
                }
                SearchIn::Teams(after) => {
                    found.teams = Some(match &name {
                        Some(name) => tx.teams_named(name, limit, after.as_ref())?,
                        None => none(),
                    });
                }
                SearchIn::Posts(after) => {
                    found.posts = Some(tx.posts_with(&text.words(), reader, limit, *after, &*self.newest)?);
                }
                SearchIn::Topics(after) => {
                    found.topics = Some(match &tag {
                        Some(tag) => tx.tags_named(tag, reader, limit, after.as_ref())?,
                        None => none(),
                    });
                }
            }
        }
        Ok(found)
    }
}

fn none<T, K>() -> Page<T, K> {
    Page { items: Vec::new(), next: None }
}

/// Finds the active account with a username, whether or not a block hides it from the reader.
#[derive(Debug, Clone)]
pub struct FindUser {
    /// The username, in any spelling that is the same name.
    pub username: Username,
}

impl Query for FindUser {
    const NAME: &'static str = "find_user";
    type Ports = dyn AccountRead;
    type Output = UserId;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn AccountRead, _now: Timestamp) -> Outcome<UserId, NotFound> {
        tx.account_named(self.username.key())?.ok_or(Failure::Refused(NotFound))
    }
}
