//! The relations of the caller to several fans.

use crate::error::{ApiError, Invalid};
use crate::extract::{Query, SignedIn};
use actix_web::get;
use actix_web::web::{Data, Json};
use serde::{Deserialize, Serialize};
use terrace_app::App;
use terrace_app::graph::ReadRelations;
use terrace_kernel::UserId;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// Maximum number of fans in one request.
const MOST: usize = 100;

/// The fans whose relations are read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RelationsQuery {
    /// The ids of 1 to 100 accounts, separated by commas.
    #[param(style = Form, explode = false, value_type = Vec<Uuid>, min_items = 1, max_items = 100)]
    user_ids: String,
}

/// The relations of the caller to the requested fans, in the order of the request. Unknown fans are in none of the lists.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RelationLists {
    /// The ids of the fans whom the caller follows.
    following: Vec<Uuid>,
    /// The ids of the fans who follow the caller.
    followed_by: Vec<Uuid>,
    /// The ids of the fans whom the caller blocks.
    blocked: Vec<Uuid>,
}

impl RelationsQuery {
    /// The ids, without repetitions.
    fn ids(&self) -> Result<Vec<UserId>, ApiError> {
        let mut ids: Vec<UserId> = Vec::new();
        for (nth, text) in self.user_ids.split(',').enumerate() {
            if nth == MOST {
                return Err(Invalid::at("/userIds", format!("must be at most {MOST} ids")));
            }
            let id = text.parse::<UserId>();
            let id = id.map_err(|error| ApiError::invalid_part("/userIds", error.to_string()))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }
}

/// Read the relations to several fans.
///
/// Which of the fans the caller follows, is followed by, and blocks.
#[utoipa::path(
    tag = "Fans",
    operation_id = "readRelations",
    params(RelationsQuery),
    responses((status = 200, description = "The relations.", body = RelationLists)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/relations")]
pub(crate) async fn read_relations(
    SignedIn(viewer): SignedIn,
    Query(query): Query<RelationsQuery>,
    app: Data<App>,
) -> Result<Json<RelationLists>, ApiError> {
    let ids = query.ids()?;
    let relations = app.query(ReadRelations { reader: viewer.user_id, others: ids.clone() }).await?;
    let in_order = |found: &[UserId]| {
        let found = ids.iter().filter(|id| found.contains(id));
        found.map(|id| id.as_uuid()).collect()
    };
    Ok(Json(RelationLists {
        following: in_order(&relations.following),
        followed_by: in_order(&relations.followed_by),
        blocked: in_order(&relations.blocked),
    }))
}
