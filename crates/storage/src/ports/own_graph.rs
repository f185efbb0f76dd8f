//! What one fan has written into the graph, page by page: each list is a walk of its primary key.

use crate::conn::on;
use crate::error::broken;
use crate::schema::{blocks, dismissals, follows, team_follows};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, TeamId, UserId};
use terrace_social::{OwnGraphRead, OwnTeamFollow, OwnTie};

fn into_ties(rows: Vec<(Key, At)>) -> Vec<OwnTie> {
    rows.into_iter().map(|(user, since)| OwnTie { user: user.id(), since: since.0 }).collect()
}

impl OwnGraphRead for DieselTx<'_> {
    fn own_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = follows::table
                .filter(follows::follower_id.eq(Key::of(fan)))
                .select((follows::followee_id, follows::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(follows::followee_id.gt(Key::of(after)));
            }
            query.order(follows::followee_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's follows"))
    }

    fn own_team_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<TeamId>,
    ) -> Result<Vec<OwnTeamFollow>, StoreError> {
        let rows: Vec<(Key, At)> = on!(self.conn, |conn| {
            let mut query = team_follows::table
                .filter(team_follows::user_id.eq(Key::of(fan)))
                .select((team_follows::team_id, team_follows::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(team_follows::team_id.gt(Key::of(after)));
            }
            query.order(team_follows::team_id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's teams"))?;
        Ok(rows.into_iter().map(|(team, since)| OwnTeamFollow { team: team.id(), since: since.0 }).collect())
    }

    fn own_blocks(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = blocks::table
                .filter(blocks::blocker_id.eq(Key::of(fan)))
                .select((blocks::blocked_id, blocks::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(blocks::blocked_id.gt(Key::of(after)));
            }
            query.order(blocks::blocked_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's blocks"))
    }

    fn own_dismissals(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = dismissals::table
                .filter(dismissals::user_id.eq(Key::of(fan)))
                .select((dismissals::dismissed_id, dismissals::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(dismissals::dismissed_id.gt(Key::of(after)));
            }
            query.order(dismissals::dismissed_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's dismissals"))
    }
}
