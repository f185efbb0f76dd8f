//! The inbox of the fan to sign in as. What others did is in it as if the log had events of it.

use crate::demo::demo_graph;
use crate::demo::demo_room::LoadedPost;
use crate::demo::{DEMO_FAN, DemoPost, LoadDemo, find, minutes};
use crate::notifications::notify;
use crate::store::DemoTx;
use std::collections::HashMap;
use std::time::Duration;
use terrace_kernel::{Ctx, Event, EventKind, NewEvent, Position, StoreError, Timestamp, Topic, UserId, Uuid};
use terrace_social::notifications::ReadMark;

/// The fan has read what is older.
const LAST_LOOK: Duration = Duration::from_hours(36);

impl LoadDemo {
    /// Notifies of follows, mentions, reactions, comments, replies and likes that concern the fan.
    pub(super) fn load_inbox(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
        posts: &[LoadedPost],
    ) -> Result<(), StoreError> {
        let (now, own) = (ctx.now(), find(fans, DEMO_FAN)?);
        let mut past = Vec::new();
        for edge in demo_graph::follows(&self.teams_of_fans()).iter().filter(|edge| edge.to == DEMO_FAN) {
            let what = event(EventKind::UserFollowed, find(fans, edge.from)?, own.as_uuid(), None);
            past.push((now.minus(minutes(edge.minutes_ago)), what));
        }
        for (entry, post) in self.demo.post.iter().zip(posts).filter(|(entry, _)| concerns_demo_fan(entry)) {
            let about = |kind, fan, comment| event(kind, fan, post.id.as_uuid(), comment);
            past.push((post.created_at, about(EventKind::PostCreated, find(fans, &entry.author)?, None)));
            for fan in self.demo.fan.iter().filter(|_| entry.author == DEMO_FAN) {
                let what = about(EventKind::ReactionChanged, find(fans, &fan.username)?, None);
                past.push((post.created_at, what));
            }
            for (comment, id) in entry.comments.iter().zip(&post.comments) {
                let at = post.created_at.plus(minutes(comment.minutes_after));
                let id = Some(id.as_uuid());
                past.push((at, about(EventKind::CommentCreated, find(fans, &comment.author)?, id)));
                for fan in self.likers(comment).filter(|_| comment.author == DEMO_FAN) {
                    past.push((at, about(EventKind::CommentLiked, find(fans, fan)?, id)));
                }
            }
        }
        past.sort_by_key(|(at, _)| *at);
        let events: Vec<Event> = (1..).zip(past).filter_map(|(n, (at, what))| in_log(n, at, what)).collect();
        notify(tx, ctx, &events)?;
        let seen = events.iter().rfind(|event| event.at < now.minus(LAST_LOOK));
        if let Some(seen) = seen {
            tx.mark_read(own, &ReadMark::UpTo(seen.position), now)?;
        }
        Ok(())
    }
}

/// Whether the demo fan wrote there, or is mentioned.
fn concerns_demo_fan(post: &DemoPost) -> bool {
    let mut wrote = [&post.author].into_iter().chain(post.comments.iter().map(|comment| &comment.author));
    let mut texts = [&post.body].into_iter().chain(post.comments.iter().map(|comment| &comment.body));
    wrote.any(|name| name == DEMO_FAN) || texts.any(|text| text.contains(&format!("@{DEMO_FAN}")))
}

fn event(kind: EventKind, actor: UserId, subject: Uuid, object: Option<Uuid>) -> NewEvent {
    NewEvent { topic: Topic::LockerRoom, kind, actor: Some(actor), team: None, subject, object }
}

fn in_log(position: i64, at: Timestamp, what: NewEvent) -> Option<Event> {
    Some(Event { position: Position::new(position)?, at, what, detail: None })
}
