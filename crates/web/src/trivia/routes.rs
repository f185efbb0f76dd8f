//! A round: its questions, answers, proof and stream.

use crate::edge::Shell;
use crate::error::{ApiError, Invalid};
use crate::extract::{ArrivedAt, JsonBody, MaybeSignedIn, PathId, Query, SignedIn};
use crate::streams::{Interest, Part, StreamQuery, StreamRequest, open, start};
use crate::trivia::dto::{AnswerBody, AnswerEnvelope, QuestionEnvelope, RoundEnvelope, RoundProof};
use actix_web::http::header;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, get, post};
use terrace_app::App;
use terrace_app::trivia::{FindRound, JoinRound, NextQuestion, ReadProof, ReadRound};
use terrace_games::RoundId;
use terrace_kernel::UserId;

async fn read(app: &App, round: RoundId, reader: Option<UserId>) -> Result<Json<RoundEnvelope>, ApiError> {
    let found = app.query(ReadRound { round, reader }).await?;
    Ok(Json(RoundEnvelope::from(&found)))
}

/// Read a round of trivia.
///
/// `current` has the latest question of an open round: of a live round for all, of a solo round the one that the reader
/// got last.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "getRound",
    params(("id" = uuid::Uuid, Path, description = "The id of the round.")),
    responses((status = 200, description = "The round.", body = RoundEnvelope)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trivia/{id}")]
pub(crate) async fn get_round(
    viewer: MaybeSignedIn,
    PathId(round): PathId<RoundId>,
    app: Data<App>,
) -> Result<Json<RoundEnvelope>, ApiError> {
    read(&app, round, viewer.0.map(|viewer| viewer.user_id)).await
}

/// Join a round.
///
/// Possible before its start and until its end. Joining again has no effect. 409 `round_over` afterwards.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "joinRound",
    params(("id" = uuid::Uuid, Path, description = "The id of the round.")),
    responses((status = 200, description = "The round, which the caller has joined.", body = RoundEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/trivia/{id}/join")]
pub(crate) async fn join_round(
    SignedIn(viewer): SignedIn,
    PathId(round): PathId<RoundId>,
    app: Data<App>,
) -> Result<Json<RoundEnvelope>, ApiError> {
    app.execute(JoinRound { user: viewer.user_id, round }).await?;
    read(&app, round, Some(viewer.user_id)).await
}

/// Get the next question of a solo round.
///
/// While the last question is open it is returned again, with the same `servedAt`. 409 `round_over` after the last one, and
/// if a question would close after the round; `question_not_open` in a live round, whose questions open by the time.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "nextQuestion",
    params(("id" = uuid::Uuid, Path, description = "The id of the round.")),
    responses((status = 200, description = "The question.", body = QuestionEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/trivia/{id}/next")]
pub(crate) async fn next_question(
    SignedIn(viewer): SignedIn,
    PathId(round): PathId<RoundId>,
    app: Data<App>,
) -> Result<Json<QuestionEnvelope>, ApiError> {
    let seeds = app.trivia_seeds()?;
    let served = app.execute(NextQuestion { user: viewer.user_id, round, seeds }).await?;
    Ok(Json(QuestionEnvelope::new(&served, app.now())))
}

/// Answer a question.
///
/// Once: the same option again gives the same answer, another one 409 `already_answered`. The time that counts is that at
/// which the request came in; answers are accepted until half a second after `endsAt`, then 409 `too_late`. The result of a
/// live question is null until the question closes.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "answerQuestion",
    params(("id" = uuid::Uuid, Path, description = "The id of the round.")),
    request_body = AnswerBody,
    responses((status = 201, description = "The answer.", body = AnswerEnvelope, headers(("Location" = String, description = "The URL of the round.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/trivia/{id}/answers")]
pub(crate) async fn answer_question(
    SignedIn(viewer): SignedIn,
    PathId(round): PathId<RoundId>,
    ArrivedAt(arrived_at): ArrivedAt,
    body: JsonBody<AnswerBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let AnswerBody { question_id, option_id } = body.into_inner();
    let mut invalid = Invalid::default();
    let question = invalid.check("/questionId", question_id.parse());
    let option = invalid.check("/optionId", option_id.parse());
    let chosen = invalid.finish(question.zip(option))?;
    let command = app.answer_question(viewer.user_id, round, chosen, arrived_at).await?;
    let answered = app.execute(command).await?;
    let body = AnswerEnvelope::new(&answered).ok_or_else(|| ApiError::internal("an answer is missing"))?;
    let location = format!("/api/trivia/{round}");
    Ok(HttpResponse::Created().insert_header((header::LOCATION, location)).json(body))
}

/// Read the proof of a round.
///
/// When the round is over: the questions with their right options, whose canonical text has the published commitment as its
/// SHA-256. 404 before.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "proveRound",
    params(("id" = uuid::Uuid, Path, description = "The id of the round.")),
    responses((status = 200, description = "The proof.", body = RoundProof)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trivia/{id}/proof")]
pub(crate) async fn prove_round(
    PathId(round): PathId<RoundId>,
    app: Data<App>,
) -> Result<Json<RoundProof>, ApiError> {
    let round = app.query(ReadProof { round }).await?;
    Ok(Json(RoundProof::from(&round)))
}

/// Stream a round.
///
/// Server-sent events with increasing positions as ids: `question.opened`, `question.closed` and `standings.changed` of a live
/// round, and `round.ended`; and `resync` if the position is too old or unknown: read the round again. `Last-Event-ID` takes
/// precedence over `since`. The stream ends after some minutes: reconnect with the last id.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "streamRound",
    params(("id" = uuid::Uuid, Path, description = "The id of the round."), StreamQuery, ("Last-Event-ID" = Option<String>, Header, nullable = false, description = "The id of the last received event.")),
    responses((status = 200, description = "Events.", body = String, content_type = "text/event-stream")),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trivia/{id}/stream")]
pub(crate) async fn stream_round(
    viewer: MaybeSignedIn,
    PathId(round): PathId<RoundId>,
    Query(query): Query<StreamQuery>,
    req: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let start = start(&req, query.since())?;
    app.query(FindRound { round }).await?;
    let interest = Interest::single(Part::Round(round));
    open(&req, &shell, &app.into_inner(), StreamRequest { interest, viewer: viewer.0.as_ref(), start }).await
}
