//! Reactions: one per fan and post.

use super::named;
use crate::conn::on;
use crate::error::broken;
use crate::schema::{posts, reactions};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{PostId, StoreError, Timestamp, UserId};
use terrace_social::{ReactionCounts, ReactionKind, ReactionWrite};

/// The `kind` of a reaction, which posts join in too.
pub(super) fn kind(text: &str) -> Result<ReactionKind, StoreError> {
    named("reactions", "kind", text)
}

impl ReactionWrite for DieselTx<'_> {
    fn reaction(&mut self, post: PostId, fan: UserId) -> Result<Option<ReactionKind>, StoreError> {
        let row: Option<String> = on!(self.conn, |conn| {
            reactions::table
                .find((Key::of(post), Key::of(fan)))
                .select(reactions::kind)
                .first(conn)
                .optional()
        })
        .map_err(broken("read a reaction"))?;
        row.as_deref().map(kind).transpose()
    }

    fn set_reaction(
        &mut self,
        post: PostId,
        fan: UserId,
        kind: Option<ReactionKind>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (post, fan) = (Key::of(post), Key::of(fan));
        let Some(kind) = kind else {
            return on!(self.conn, |conn| diesel::delete(reactions::table.find((post, fan))).execute(conn))
                .map(drop)
                .map_err(broken("take back a reaction"));
        };
        let feeling = (reactions::kind.eq(kind.as_str()), reactions::created_at.eq(At(at)));
        on!(self.conn, |conn| {
            diesel::insert_into(reactions::table)
                .values((reactions::post_id.eq(post), reactions::user_id.eq(fan), feeling))
                .on_conflict((reactions::post_id, reactions::user_id))
                .do_update()
                .set(feeling)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("set a reaction"))
    }

    fn add_to_reaction_counts(&mut self, post: PostId, change: &ReactionCounts) -> Result<(), StoreError> {
        let changes = (
            posts::like_count.eq(posts::like_count + change.like),
            posts::love_count.eq(posts::love_count + change.love),
            posts::fire_count.eq(posts::fire_count + change.fire),
            posts::clap_count.eq(posts::clap_count + change.clap),
            posts::laugh_count.eq(posts::laugh_count + change.laugh),
            posts::sad_count.eq(posts::sad_count + change.sad),
        );
        on!(self.conn, |conn| diesel::update(posts::table.find(Key::of(post))).set(changes).execute(conn))
            .map(drop)
            .map_err(broken("count reactions"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Database, at, fan, post};
    use super::*;
    use terrace_social::PostWrite;

    #[test]
    fn a_fan_has_one_reaction_which_another_replaces() {
        let mut database = Database::new();
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let id = post(tx, 10, ana, None, 0);
        let steps =
            [Some(ReactionKind::Like), Some(ReactionKind::Like), Some(ReactionKind::Laugh), None, None];
        for after in steps {
            let before = tx.reaction(id, ana).unwrap();
            tx.set_reaction(id, ana, after, at(1)).unwrap();
            if let Some(change) = ReactionCounts::change(before, after) {
                tx.add_to_reaction_counts(id, &change).unwrap();
            }
            assert_eq!(tx.reaction(id, ana).unwrap(), after);
            let counts = tx.lock_post(id).unwrap().unwrap().reactions;
            assert_eq!(counts.total(), i64::from(after.is_some()));
            assert_eq!(after.map(|kind| counts.of(kind)), after.map(|_| 1));
        }
    }
}
