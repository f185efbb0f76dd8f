//! Quests, daily visits, achievements.

use crate::edge::conditional_json;
use crate::error::{ApiError, Code};
use crate::extract::{JsonBody, MaybeSignedIn, OptionalBody, PathId, Query, SignedIn};
use crate::platform::{PageQuery, next_cursor};
use crate::quests::dto::{
    Achievement, AchievementList, CheckResult, CompletedQuest, CompletedQuestList, EmptyBody, Quest,
    QuestEnvelope, QuestList, QuestStep, StartBody, StepBody, StepResult, VisitResult, VisitStatus,
};
use crate::quests::pages::QuestPage;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, get, post};
use terrace_app::App;
use terrace_app::quests::{
    OwnQuests, ReadAchievements, ReadCompletedQuests, ReadOwnQuests, ReadVisits, StartQuest, VisitDaily,
};
use terrace_quests::{QuestId, StepId};

const COMPLETED: &str = "completed-quests";

/// List quests.
///
/// Returns the open quests in the order of the content; with the caller's status when signed in. Responses carry an
/// `ETag`.
#[utoipa::path(
    tag = "Quests",
    operation_id = "listQuests",
    responses(
        (status = 200, description = "The quests.", body = QuestList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/quests")]
pub(crate) async fn list_quests(
    viewer: MaybeSignedIn,
    app: Data<App>,
    page: Data<QuestPage>,
) -> Result<HttpResponse, ApiError> {
    let book = app.quest_book().await?;
    match viewer.0 {
        None => page.answer(&app, &book),
        Some(viewer) => {
            let own = app.query(ReadOwnQuests { user: viewer.user_id, book: book.clone() }).await?;
            conditional_json(Some(&viewer), &QuestList::open(&book, &own, app.now()))
        }
    }
}

fn no_quest() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such quest")
}

/// Read a quest.
///
/// Returns any quest that was ever open, with the caller's status when signed in. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Quests",
    operation_id = "getQuest",
    params(("id" = uuid::Uuid, Path, description = "The id of the quest.")),
    responses(
        (status = 200, description = "The quest.", body = QuestEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/quests/{id}")]
pub(crate) async fn get_quest(
    viewer: MaybeSignedIn,
    PathId(quest): PathId<QuestId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let book = app.quest_book().await?;
    let quest = book.quest(quest).filter(|quest| quest.was_open(app.now())).ok_or_else(no_quest)?;
    let own = match &viewer.0 {
        None => OwnQuests::default(),
        Some(viewer) => app.query(ReadOwnQuests { user: viewer.user_id, book: book.clone() }).await?,
    };
    let body = QuestEnvelope { quest: Quest::new(quest, &book, &own) };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Start a quest.
///
/// If the quest is already started or completed, nothing changes and the response is the same. A daily quest is
/// started for the fan's date.
#[utoipa::path(
    tag = "Quests",
    operation_id = "startQuest",
    request_body = StartBody,
    responses((status = 200, description = "The quest in its current state.", body = QuestEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/quests/start")]
pub(crate) async fn start_quest(
    SignedIn(viewer): SignedIn,
    body: JsonBody<StartBody>,
    app: Data<App>,
) -> Result<Json<QuestEnvelope>, ApiError> {
    let (user, quest) = (viewer.user_id, body.into_inner().quest_id.0);
    let book = app.quest_book().await?;
    app.execute(StartQuest { user, quest, book: book.clone() }).await?;
    let quest = book.quest(quest).ok_or_else(no_quest)?;
    let own = app.query(ReadOwnQuests { user, book: book.clone() }).await?;
    Ok(Json(QuestEnvelope { quest: Quest::new(quest, &book, &own) }))
}

/// Complete a step.
///
/// Pays the step immediately, and the quest with its last required step. Repeating the request changes and pays
/// nothing. A step with a condition is completed only if the condition holds.
#[utoipa::path(
    tag = "Quests",
    operation_id = "completeStep",
    request_body = StepBody,
    responses((status = 200, description = "The result.", body = StepResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/quests/complete-step")]
pub(crate) async fn complete_step(
    SignedIn(viewer): SignedIn,
    body: JsonBody<StepBody>,
    app: Data<App>,
) -> Result<Json<StepResult>, ApiError> {
    let (user, id) = (viewer.user_id, body.into_inner().step_id.0);
    let (book, completed) = app.complete_step(user, id).await?;
    let (quest, step) = book.step(id).ok_or_else(no_quest)?;
    let own = app.own_quest(user, &book, quest, completed.run).await?;
    Ok(Json(StepResult {
        step: QuestStep::new(step, quest.id, &own),
        points_awarded: completed.points,
        quest_completed: completed.completes_quest,
        quest: Quest::new(quest, &book, &own),
    }))
}

/// Check the caller's progress.
///
/// Completes the steps of started quests whose conditions hold, including conditions that held before the start.
#[utoipa::path(
    tag = "Quests",
    operation_id = "checkProgress",
    request_body = EmptyBody,
    responses((status = 200, description = "The completed steps and quests.", body = CheckResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/quests/check-progress")]
pub(crate) async fn check_progress(
    SignedIn(viewer): SignedIn,
    _body: OptionalBody<EmptyBody>,
    app: Data<App>,
) -> Result<Json<CheckResult>, ApiError> {
    let user = viewer.user_id;
    let checked = app.check_progress(user).await?;
    let mut result = CheckResult {
        completed_steps: Vec::new(),
        completed_quests: Vec::new(),
        points_awarded: checked.points,
    };
    if !checked.steps.is_empty() {
        let book = app.quest_book().await?;
        let own = app.query(ReadOwnQuests { user, book: book.clone() }).await?;
        let step = |id: &StepId| {
            let (quest, step) = book.step(*id)?;
            Some(QuestStep::new(step, quest.id, &own))
        };
        result.completed_steps = checked.steps.iter().filter_map(step).collect();
        let quests = checked.quests.iter().filter_map(|id| book.quest(*id));
        result.completed_quests = quests.map(|quest| Quest::new(quest, &book, &own)).collect();
    }
    Ok(Json(result))
}

/// Read the caller's daily visits.
///
/// Changes nothing: a visit is recorded with POST.
#[utoipa::path(
    tag = "Quests",
    operation_id = "readDailyVisits",
    responses((status = 200, description = "The streak, and when the next visit pays.", body = VisitStatus)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/quests/daily-visit")]
pub(crate) async fn read_daily_visits(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<VisitStatus>, ApiError> {
    Ok(Json(app.query(ReadVisits { user: viewer.user_id }).await?.into()))
}

/// Record a daily visit.
///
/// The first visit on each of the fan's dates pays points; consecutive dates form a streak, which pays more at some
/// lengths.
#[utoipa::path(
    tag = "Quests",
    operation_id = "visitDaily",
    request_body = EmptyBody,
    responses((status = 200, description = "The result.", body = VisitResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/quests/daily-visit")]
pub(crate) async fn visit_daily(
    SignedIn(viewer): SignedIn,
    _body: OptionalBody<EmptyBody>,
    app: Data<App>,
) -> Result<Json<VisitResult>, ApiError> {
    let visit = app.execute(VisitDaily { user: viewer.user_id, awards: app.awards() }).await?;
    Ok(Json(visit.into()))
}

/// List completed quests.
///
/// Derived from the caller's records of points, newest first.
#[utoipa::path(
    tag = "Quests",
    operation_id = "listCompletedQuests",
    params(PageQuery),
    responses((status = 200, description = "A page of completed quests.", body = CompletedQuestList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/completed-quests")]
pub(crate) async fn list_completed_quests(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<CompletedQuestList>, ApiError> {
    let user = viewer.user_id;
    let filter = user.to_string();
    let page = query.asked(&app, COMPLETED, &filter)?;
    let book = app.quest_book().await?;
    let found = app.query(ReadCompletedQuests { user, limit: page.limit, after: page.after, book }).await?;
    Ok(Json(CompletedQuestList {
        quests: found.items.iter().map(CompletedQuest::from).collect(),
        next_cursor: next_cursor(&app, found.next.as_ref(), COMPLETED, &filter),
    }))
}

/// List achievements.
///
/// Includes the caller's progress; secret achievements are listed once they are unlocked.
#[utoipa::path(
    tag = "Quests",
    operation_id = "listAchievements",
    responses((status = 200, description = "The achievements.", body = AchievementList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/achievements")]
pub(crate) async fn list_achievements(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<AchievementList>, ApiError> {
    let book = app.quest_book().await?;
    let own = app.query(ReadAchievements { user: viewer.user_id }).await?;
    let achievements = book.achievements().iter().filter_map(|achievement| {
        let unlocked = own.unlocked.iter().find(|(key, _)| *key == achievement.key).map(|(_, at)| *at);
        achievement.is_shown(unlocked.is_some()).then(|| Achievement::new(achievement, &own.known, unlocked))
    });
    Ok(Json(AchievementList { achievements: achievements.collect() }))
}
