//! The streams of the locker room, of leaderboards, of a fan's private events, and of all of them together.

use crate::boards::{choice, id};
use crate::edge::Shell;
use crate::error::{ApiError, Code};
use crate::extract::{MaybeSignedIn, Query, SignedIn};
use crate::room::{Scope, feed_scope};
use crate::streams::{Interest, Part, StreamRequest, channels, open, start};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::boards::BoardChoice;
use terrace_app::room::FeedScope;
use terrace_app::teams::GetTeam;
use terrace_app::trivia::FindRound;
use utoipa::IntoParams;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

/// A whole number of any size: one that is no valid position is treated like a position that is too old.
fn position() -> Object {
    const IS: &str = "A `streamPosition`, or the id of an event, after which the stream continues. Without it, the stream \
                      starts with new events.";
    ObjectBuilder::new().schema_type(Type::Integer).description(Some(IS)).build()
}

/// The parameters of the locker room's stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RoomStreamQuery {
    /// The part to stream; by default all posts. `following`, and `team` without a team, require a session.
    #[param(inline)]
    scope: Option<Scope>,
    /// With `scope=team`: the team whose room is streamed; defaults to the caller's teams.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// The `streamPosition` of a page, after which the stream continues. Without it, the stream starts with new
    /// events.
    #[param(schema_with = position, required = false)]
    since: Option<String>,
}

/// The parameters of a board's stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BoardStreamQuery {
    /// The id of the leaderboard; without it and without `teamId`, the global one of the shown season, also after the
    /// season changes.
    #[param(value_type = Option<uuid::Uuid>)]
    leaderboard_id: Option<String>,
    /// The team whose leaderboard is requested; it is created on the first request.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// The `streamPosition` of a page, after which the stream continues. Without it, the stream starts with new
    /// events.
    #[param(schema_with = position, required = false)]
    since: Option<String>,
}

/// The parameters of one's own stream, and of that of a round of trivia.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// A `streamPosition`, or the id of an event, after which the stream continues. Without it, the stream starts with
    /// new events.
    #[param(schema_with = position, required = false)]
    since: Option<String>,
}

impl StreamQuery {
    /// The position after which the stream continues.
    pub(crate) fn since(&self) -> Option<&str> {
        self.since.as_deref()
    }
}

/// The parameters of the combined stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CombinedStreamQuery {
    /// 1 to 32 different channels, separated by commas: `room` (all posts), `room:following`, `room:team:<id>`, `board`
    /// (the global leaderboard of the shown season), `board:<id>`, `trivia:<id>` (a round), and `me` (the caller's own events).
    /// `room:following` and `me` require a session.
    #[param(example = "room,board", min_length = 2, max_length = 2000)]
    channels: String,
    /// The `streamPosition` of a page, after which the stream continues. Without it, the stream starts with new
    /// events.
    #[param(schema_with = position, required = false)]
    since: Option<String>,
}

/// Stream the locker room.
///
/// Server-sent events with increasing positions as ids: `post.created`, `post.edited`, `post.deleted`,
/// `comment.created`, `comment.edited`, `comment.liked`, `comment.deleted` and `reaction.changed`; and `resync` if the
/// position is too old or unknown: read the page again. `Last-Event-ID` takes precedence over `since`. The stream ends
/// after some minutes: reconnect with the last id.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "streamLockerRoom",
    params(RoomStreamQuery, ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last received event.")),
    responses((status = 200, description = "Events.", body = String, content_type = "text/event-stream")),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/locker-room/stream")]
pub(crate) async fn stream_locker_room(
    viewer: MaybeSignedIn,
    Query(query): Query<RoomStreamQuery>,
    req: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let start = start(&req, query.since.as_deref())?;
    let scope = feed_scope(query.scope, query.team_id.as_deref())?;
    if scope.is_personal() && viewer.0.is_none() {
        return Err(Code::AuthenticationRequired.into());
    }
    let part = match scope {
        FeedScope::All | FeedScope::InsteadOfFollowing => Part::All,
        FeedScope::Team(team) => {
            app.query(GetTeam { team }).await?;
            Part::Team(team)
        }
        FeedScope::OwnTeams => Part::OwnTeams,
        FeedScope::Following => Part::Following,
    };
    let interest = Interest::single(part);
    let asked = StreamRequest { interest, viewer: viewer.0.as_ref(), start };
    open(&req, &shell, &app.into_inner(), asked).await
}

/// Stream a board.
///
/// Server-sent events with increasing positions as ids: `score.changed` and `board.reset`; and `resync` if the
/// position is too old or unknown: read the page again. Several changes of one fan may be merged into the newest.
/// `Last-Event-ID` takes precedence over `since`. The stream ends after some minutes: reconnect with the last id.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "streamLeaderboard",
    params(BoardStreamQuery, ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last received event.")),
    responses((status = 200, description = "Events.", body = String, content_type = "text/event-stream")),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/leaderboard/stream")]
pub(crate) async fn stream_leaderboard(
    viewer: MaybeSignedIn,
    Query(query): Query<BoardStreamQuery>,
    req: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let choice = choice(
        id(query.leaderboard_id.as_deref(), "/leaderboardId")?,
        id(query.team_id.as_deref(), "/teamId")?,
    )?;
    // Parsed before the board is looked up, because a lookup may create the board and a bad request must not.
    let start = start(&req, query.since.as_deref())?;
    let now = app.boards_now(viewer.0.as_ref().map(|viewer| viewer.user_id)).await;
    let shown = app.find_board(now, choice, None).await?;
    let part = match choice {
        BoardChoice::Global => Part::GlobalBoard,
        BoardChoice::Board(_) | BoardChoice::Team(_) => Part::Board(shown.board.id),
    };
    let interest = Interest::single(part);
    let asked = StreamRequest { interest, viewer: viewer.0.as_ref(), start };
    open(&req, &shell, &app.into_inner(), asked).await
}

/// Stream the caller's own events.
///
/// Server-sent events with increasing positions as ids: the caller's `points.awarded`, `step.completed`,
/// `quest.completed`, `achievement.unlocked`, `purchase.changed`, `order.changed`, `claim.changed`, `balance.changed` and `wallet.changed`; and `resync` if the
/// position is too old or unknown: read the shown data again. `Last-Event-ID` takes precedence over `since`. The stream ends after some
/// minutes: reconnect with the last id.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "streamOwn",
    params(StreamQuery, ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last received event.")),
    responses((status = 200, description = "Events.", body = String, content_type = "text/event-stream")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/stream")]
pub(crate) async fn stream_own(
    SignedIn(viewer): SignedIn,
    Query(query): Query<StreamQuery>,
    req: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let start = start(&req, query.since.as_deref())?;
    let interest = Interest::single(Part::Own(viewer.user_id));
    let asked = StreamRequest { interest, viewer: Some(&viewer), start };
    open(&req, &shell, &app.into_inner(), asked).await
}

/// Stream several channels at once.
///
/// Server-sent events as in the streams of the locker room, of leaderboards, of rounds and of one's own events, each with
/// `channels`: those of the requested channels that it belongs to. Several events may have one position; only the last of
/// them has an id. `resync` has all channels: read the shown data again. `Last-Event-ID` takes precedence over `since`.
/// The stream ends after some minutes: reconnect with the last id.
#[utoipa::path(
    tag = "Platform",
    operation_id = "streamAll",
    params(CombinedStreamQuery, ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last received event.")),
    responses((status = 200, description = "Events.", body = String, content_type = "text/event-stream")),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/stream")]
pub(crate) async fn stream_all(
    viewer: MaybeSignedIn,
    Query(query): Query<CombinedStreamQuery>,
    req: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let start = start(&req, query.since.as_deref())?;
    let viewer = viewer.0.as_ref();
    let parts = channels::parts(&query.channels, viewer)?;
    let now = app.boards_now(viewer.map(|viewer| viewer.user_id)).await;
    for part in &parts {
        match *part {
            Part::Team(team) => drop(app.query(GetTeam { team }).await?),
            Part::GlobalBoard => drop(app.find_board(now, BoardChoice::Global, None).await?),
            Part::Board(board) => drop(app.find_board(now, BoardChoice::Board(board), None).await?),
            Part::Round(round) => app.query(FindRound { round }).await?,
            Part::All | Part::OwnTeams | Part::Following | Part::Own(_) => {}
        }
    }
    let asked = StreamRequest { interest: Interest::combined(parts), viewer, start };
    open(&req, &shell, &app.into_inner(), asked).await
}
