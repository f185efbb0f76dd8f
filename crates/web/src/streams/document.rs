//! The events of streams in the OpenAPI document: `x-events` of an operation maps the names of its events to the schemas
//! of their data.

use crate::boards::dto::PointsEntry;
use crate::streams::dto::{
    AchievementUnlocked, BalanceChanged, BoardReset, ClaimChanged, CommentCreated, CommentDeleted,
    CommentEdited, CommentLiked, NotificationCreated, NotificationRead, OrderChanged, PostCreated,
    PostDeleted, PostEdited, PurchaseChanged, QuestCompleted, ReactionChanged, Resync, ScoreChanged,
    StepCompleted, WalletChanged,
};
use crate::streams::kind::{KINDS, Kind};
use crate::trivia::dto::{QuestionClosed, QuestionOpened, RoundEnded, StandingsChanged};
use crate::wheels::dto::SpinCompleted;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Components, OpenApi, RefOr};

/// The operations with a stream of one kind.
const SINGLE: [(&str, Kind); 4] = [
    ("/api/locker-room/stream", Kind::Room),
    ("/api/leaderboard/stream", Kind::Boards),
    ("/api/trivia/{id}/stream", Kind::Trivia),
    ("/api/user/stream", Kind::Fans),
];
/// The operation with the combined stream.
const COMBINED: &str = "/api/stream";

/// The name of an event, and of the schema of its data.
type Named = (&'static str, String);

/// Adds the schemas of events, and a map of events to every operation with a stream.
pub(crate) fn add_events(document: &mut OpenApi) {
    let mut components = document.components.take().unwrap_or_default();
    let resync = named::<Resync>(&mut components, "resync");
    let mut all = vec![resync.clone()];
    for kind in KINDS {
        let events = events(&mut components, kind);
        all.extend(events.iter().cloned());
        let map = map(events.into_iter().chain([resync.clone()]));
        for (path, _) in SINGLE.iter().filter(|(_, single)| *single == kind) {
            extend(document, path, map.clone());
        }
    }
    let combined: Vec<Named> = all.into_iter().filter_map(|event| combined(&mut components, event)).collect();
    extend(document, COMBINED, map(combined.into_iter()));
    document.components = Some(components);
}

/// Adds the schema of an event in the combined stream: that of the event with its channels.
fn combined(components: &mut Components, (event, schema): Named) -> Option<Named> {
    let Some(RefOr::T(Schema::Object(mut object))) = components.schemas.get(&schema).cloned() else {
        return None;
    };
    let channels = ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String))
        .min_items(Some(1))
        .description(Some("The channels to which the event belongs, of those that were requested."))
        .examples([json!(["room", "room:team:0190a6f2-7c1e-7abc-8def-0123456789ab"])]);
    object.properties.insert("channels".to_owned(), channels.build().into());
    object.required.push("channels".to_owned());
    let name = format!("Combined{schema}");
    components.schemas.insert(name.clone(), RefOr::T(Schema::Object(object)));
    Some((event, name))
}

fn events(components: &mut Components, kind: Kind) -> Vec<Named> {
    match kind {
        Kind::Room => vec![
            named::<PostCreated>(components, "post.created"),
            named::<PostEdited>(components, "post.edited"),
            named::<PostDeleted>(components, "post.deleted"),
            named::<CommentCreated>(components, "comment.created"),
            named::<CommentEdited>(components, "comment.edited"),
            named::<CommentLiked>(components, "comment.liked"),
            named::<CommentDeleted>(components, "comment.deleted"),
            named::<ReactionChanged>(components, "reaction.changed"),
        ],
        Kind::Boards => vec![
            named::<ScoreChanged>(components, "score.changed"),
            named::<BoardReset>(components, "board.reset"),
        ],
        Kind::Trivia => vec![
            named::<QuestionOpened>(components, "question.opened"),
            named::<QuestionClosed>(components, "question.closed"),
            named::<StandingsChanged>(components, "standings.changed"),
            named::<RoundEnded>(components, "round.ended"),
        ],
        Kind::Fans => vec![
            named::<PointsEntry>(components, "points.awarded"),
            named::<StepCompleted<'_>>(components, "step.completed"),
            named::<QuestCompleted<'_>>(components, "quest.completed"),
            named::<AchievementUnlocked<'_>>(components, "achievement.unlocked"),
            named::<PurchaseChanged>(components, "purchase.changed"),
            named::<OrderChanged>(components, "order.changed"),
            named::<BalanceChanged>(components, "balance.changed"),
            named::<WalletChanged>(components, "wallet.changed"),
            named::<NotificationCreated>(components, "notification.created"),
            named::<NotificationRead>(components, "notification.read"),
            named::<ClaimChanged>(components, "claim.changed"),
            named::<SpinCompleted<'_>>(components, "spin.completed"),
        ],
    }
}

/// Adds a schema with those that it refers to.
fn named<T: ToSchema>(components: &mut Components, event: &'static str) -> Named {
    let name = T::name().into_owned();
    let mut schemas = vec![(name.clone(), T::schema())];
    T::schemas(&mut schemas);
    components.schemas.extend(schemas);
    (event, name)
}

fn map(events: impl Iterator<Item = Named>) -> Value {
    let reference = |schema| json!({"$ref": format!("#/components/schemas/{schema}")});
    Value::Object(events.map(|(event, schema)| (event.to_owned(), reference(schema))).collect::<Map<_, _>>())
}

fn extend(document: &mut OpenApi, path: &str, events: Value) {
    let operation = document.paths.paths.get_mut(path).and_then(|item| item.get.as_mut());
    if let Some(operation) = operation {
        operation.extensions.get_or_insert_default().insert("x-events".to_owned(), events);
    }
}
