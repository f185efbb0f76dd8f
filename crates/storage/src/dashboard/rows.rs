//! The rows that only dashboards read.

use super::parts::{ORDERS, ROUNDS};
use crate::packs::count;
use crate::rows::named;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_identity::Account;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_quests::Facts;
use terrace_scoring::{BoardId, Points};
use terrace_shop::Amounts;
use terrace_social::{RankedTopic, Tag};
use terrace_store::dashboard::{DashboardNumbers, OrderSummary, RoundSummary};

/// The numbers of a fan, and the columns of a round of trivia, which are all null if there is none.
#[derive(Queryable)]
pub(super) struct NumbersRow {
    points: i64,
    point_balance: i64,
    coin_balance: i64,
    pub(super) sealed_packs: i64,
    owned_packs: i64,
    pub(super) collectibles: i64,
    distinct_collectibles: i64,
    pub(super) usable_claims: i64,
    pub(super) orders: i64,
    pending_orders: i64,
    paid_orders: i64,
    season_points: i64,
    unread: i64,
    round_id: Option<Key>,
    round_title: Option<String>,
    round_mode: Option<String>,
    round_starts_at: Option<At>,
    round_closes_at: Option<At>,
    round_question_count: Option<i32>,
    round_joined_at: Option<At>,
}

impl NumbersRow {
    /// The facts towards which steps show progress. No step does for boards or the rank.
    pub(super) fn facts(&self, account: &Account) -> Facts {
        Facts {
            follows: num::to_u64(account.following_count),
            followers: num::to_u64(account.follower_count),
            has_picture: account.card.picture.is_some(),
            has_favorite_team: account.favorite_team.is_some(),
            has_display_name: !account.card.display_name.is_empty(),
            has_bio: !account.bio.is_empty(),
            season_points: self.season_points,
            boards_joined: 0,
            rank: None,
        }
    }

    pub(super) fn into_numbers(self, team_board: Option<BoardId>) -> Result<DashboardNumbers, StoreError> {
        Ok(DashboardNumbers {
            points: Points::new(self.points),
            point_balance: self.point_balance,
            coin_balance: self.coin_balance,
            team_board,
            sealed_packs: num::to_u64(self.sealed_packs),
            owned_packs: num::to_u64(self.owned_packs),
            collectibles: num::to_u64(self.collectibles),
            distinct_collectibles: num::to_u64(self.distinct_collectibles),
            usable_claims: num::to_u64(self.usable_claims),
            orders: num::to_u64(self.orders),
            pending_orders: num::to_u64(self.pending_orders),
            paid_orders: num::to_u64(self.paid_orders),
            unread: self.unread,
            round: self.into_round()?,
        })
    }

    fn into_round(self) -> Result<Option<RoundSummary>, StoreError> {
        let (Some(id), Some(title), Some(mode), Some(starts_at), Some(closes_at), Some(questions)) = (
            self.round_id,
            self.round_title,
            self.round_mode,
            self.round_starts_at,
            self.round_closes_at,
            self.round_question_count,
        ) else {
            return Ok(None);
        };
        Ok(Some(RoundSummary {
            id: id.id(),
            title,
            mode: named(ROUNDS, "mode", &mode)?,
            starts_at: starts_at.0,
            closes_at: closes_at.0,
            question_count: count(ROUNDS, "question_count", questions)?,
            has_joined: self.round_joined_at.is_some(),
        }))
    }
}

#[derive(Queryable)]
pub(super) struct SummaryRow {
    id: Key,
    state: String,
    points: i64,
    coins: i64,
    money: i64,
    currency: Option<String>,
    checkout_url: Option<String>,
    expires_at: Option<At>,
    created_at: At,
    units: i64,
    name: String,
}

impl SummaryRow {
    pub(super) fn into_summary(self) -> Result<OrderSummary, StoreError> {
        Ok(OrderSummary {
            id: self.id.id(),
            state: named(ORDERS, "state", &self.state)?,
            name: self.name,
            units: num::to_u64(self.units),
            totals: Amounts { points: self.points, coins: self.coins, money: self.money },
            currency: self.currency.map(|code| named(ORDERS, "currency", &code)).transpose()?,
            checkout_url: self.checkout_url,
            expires_at: self.expires_at.map(|at| at.0),
            created_at: self.created_at.0,
        })
    }
}

#[derive(Queryable)]
pub(super) struct TopicRow {
    begun_at: At,
    rank: Option<i64>,
    tag: Option<String>,
    score: Option<i64>,
    post_count: Option<i64>,
}

impl TopicRow {
    /// The instant of the ranking, and its topics; `None` without a ranking.
    pub(super) fn into_ranking(rows: Vec<Self>) -> Option<(Timestamp, Vec<RankedTopic>)> {
        let begun_at = rows.first()?.begun_at.0;
        Some((begun_at, rows.into_iter().filter_map(Self::into_topic).collect()))
    }

    fn into_topic(self) -> Option<RankedTopic> {
        Some(RankedTopic {
            rank: self.rank?,
            tag: Tag::stored(self.tag?),
            score: self.score?,
            post_count: self.post_count?,
        })
    }
}
