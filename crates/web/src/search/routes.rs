//! Search, and profiles by username.

use crate::accounts::dto::PublicProfile;
use crate::accounts::public_profile;
use crate::cursor::CursorKey;
use crate::dto::UserCard;
use crate::error::{ApiError, Code, Invalid};
use crate::extract::{MaybeSignedIn, Query};
use crate::platform::{asked, next_cursor};
use crate::room::dto::Post;
use crate::search::dto::{FoundTopic, SearchKind, SearchResults};
use crate::teams::dto::Team;
use actix_web::get;
use actix_web::web::{Data, Json, Path};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::search::{FindUser, Found, Search, SearchIn};
use terrace_identity::Username;
use terrace_kernel::Limit;
use terrace_social::search::SearchText;
use utoipa::IntoParams;

/// The parameters of a search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// The search text: 2 to 64 characters after normalisation, or one character of a script that is written without
    /// spaces. All signs are plain text; there are no operators.
    #[param(min_length = 1, max_length = 256, example = "save")]
    q: String,
    /// The kinds of results, separated by commas; by default all.
    #[param(
        style = Form,
        explode = false,
        inline,
        nullable = false,
        value_type = Option<Vec<SearchKind>>,
        min_items = 1,
        example = json!(["users", "posts"])
    )]
    kind: Option<String>,
    /// The number of results of each kind: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page, if one kind is requested.
    cursor: Option<String>,
}

impl SearchQuery {
    /// The requested kinds, each once.
    fn kinds(&self) -> Result<Vec<SearchKind>, ApiError> {
        let Some(text) = &self.kind else { return Ok(SearchKind::ALL.to_vec()) };
        let names: Vec<&str> = text.split(',').collect();
        let is_known = |name: &&str| SearchKind::ALL.iter().any(|kind| kind.as_str() == *name);
        if !names.iter().all(is_known) {
            return Err(ApiError::invalid_part("/kind", "one or more of users, teams, posts and topics"));
        }
        Ok(SearchKind::ALL.into_iter().filter(|kind| names.contains(&kind.as_str())).collect())
    }

    /// The requested page of the only kind of results.
    fn page<K: CursorKey>(
        &self,
        app: &App,
        kind: SearchKind,
        text: &SearchText,
    ) -> Result<(Limit, Option<K>), ApiError> {
        let page = asked(app, self.limit, self.cursor.as_deref(), list(kind), text.as_str())?;
        Ok((page.limit, page.after))
    }

    fn search(&self, app: &App, text: SearchText, kinds: &[SearchKind]) -> Result<Search, ApiError> {
        let (limit, kinds) = match kinds {
            [kind] => {
                let (limit, part) = match kind {
                    SearchKind::Users => {
                        let (limit, after) = self.page(app, *kind, &text)?;
                        (limit, SearchIn::Users(after))
                    }
                    SearchKind::Teams => {
                        let (limit, after) = self.page(app, *kind, &text)?;
                        (limit, SearchIn::Teams(after))
                    }
                    SearchKind::Posts => {
                        let (limit, after) = self.page(app, *kind, &text)?;
                        (limit, SearchIn::Posts(after))
                    }
                    SearchKind::Topics => {
                        let (limit, after) = self.page(app, *kind, &text)?;
                        (limit, SearchIn::Topics(after))
                    }
                };
                (limit, vec![part])
            }
            several => {
                if self.cursor.is_some() {
                    return Err(ApiError::invalid_part("/cursor", "goes with one kind"));
                }
                let page = asked::<String>(app, self.limit, None, "", "")?;
                (page.limit, several.iter().map(|kind| first(*kind)).collect())
            }
        };
        Ok(Search { text, kinds, reader: None, limit })
    }
}

/// The first page of a kind.
const fn first(kind: SearchKind) -> SearchIn {
    match kind {
        SearchKind::Users => SearchIn::Users(None),
        SearchKind::Teams => SearchIn::Teams(None),
        SearchKind::Posts => SearchIn::Posts(None),
        SearchKind::Topics => SearchIn::Topics(None),
    }
}

/// The name of a kind's list in cursors.
const fn list(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Users => "found-users",
        SearchKind::Teams => "found-teams",
        SearchKind::Posts => "found-posts",
        SearchKind::Topics => "found-topics",
    }
}

/// The cursor of the next page of the only kind.
fn cursor(app: &App, kind: SearchKind, found: &Found, text: &SearchText) -> Option<String> {
    let filter = text.as_str();
    match kind {
        SearchKind::Users => next_cursor(app, found.users.as_ref()?.next.as_ref(), list(kind), filter),
        SearchKind::Teams => next_cursor(app, found.teams.as_ref()?.next.as_ref(), list(kind), filter),
        SearchKind::Posts => next_cursor(app, found.posts.as_ref()?.next.as_ref(), list(kind), filter),
        SearchKind::Topics => next_cursor(app, found.topics.as_ref()?.next.as_ref(), list(kind), filter),
    }
}

/// Search for fans, teams, posts and topics.
///
/// Fans and teams are found by a name that begins with the text, at any word of the name; posts by all words of the text;
/// topics by a tag that begins with it. What is new is found within two seconds. If each word of a search of posts is in
/// more than 10,000 posts, a page holds what the next 10,000 posts contain, and the list ends with a page that is not
/// full.
#[utoipa::path(
    tag = "Search",
    operation_id = "search",
    params(SearchQuery),
    responses((status = 200, description = "The results.", body = SearchResults)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/search")]
pub(crate) async fn search(
    viewer: MaybeSignedIn,
    Query(query): Query<SearchQuery>,
    app: Data<App>,
) -> Result<Json<SearchResults>, ApiError> {
    let kinds = query.kinds()?;
    let text = SearchText::parse(&query.q).map_err(|error| Invalid::at("/q", error.to_string()))?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let search = query.search(&app, text.clone(), &kinds)?;
    let found = app.search(Search { reader, ..search }).await?;
    let next_cursor = match kinds.as_slice() {
        [kind] => cursor(&app, *kind, &found, &text),
        _ => None,
    };
    Ok(Json(SearchResults {
        users: found.users.map(|page| page.items.iter().map(UserCard::from).collect()),
        teams: found.teams.map(|page| page.items.iter().map(Team::from).collect()),
        posts: found.posts.map(|page| page.items.iter().map(Post::from).collect()),
        topics: found.topics.map(|page| page.items.iter().map(FoundTopic::from).collect()),
        next_cursor,
    }))
}

/// Read a fan's public profile by username.
///
/// The same as `GET /api/users/{id}`. Spellings that are the same username find the same fan.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "getPublicProfileByName",
    params(("username" = String, Path, description = "The username.")),
    responses((status = 200, description = "The profile.", body = PublicProfile)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/users/by-name/{username}")]
pub(crate) async fn get_profile_by_name(
    viewer: MaybeSignedIn,
    username: Result<Path<String>, actix_web::Error>,
    app: Data<App>,
) -> Result<Json<PublicProfile>, ApiError> {
    let reader = viewer.0.map(|viewer| viewer.user_id);
    // Any other text is the name of no account.
    let username = username.ok().and_then(|text| Username::parse(&text).ok()).ok_or(Code::NotFound)?;
    let user = app.query(FindUser { username }).await?;
    Ok(Json(public_profile(&app, reader, user).await?))
}
