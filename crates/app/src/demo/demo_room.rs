//! What the demonstration fans wrote, and how others answered.

use crate::demo::demo_graph::number;
use crate::demo::{DemoComment, DemoPost, LoadDemo, find, minutes, wrong};
use crate::room::mentions_in;
use crate::store::DemoTx;
use std::collections::HashMap;
use terrace_kernel::{CommentId, Ctx, PostId, StoreError, TeamId, Timestamp, UserId, num};
use terrace_social::{
    NewComment, NewPost, ReactionCounts, ReactionKind, ReactionWrite, comment_body, post_body,
};

/// A post with its comments, in the order of the content.
pub(super) struct LoadedPost {
    pub(super) id: PostId,
    pub(super) comments: Vec<CommentId>,
    pub(super) created_at: Timestamp,
}

impl LoadDemo {
    pub(super) fn load_post(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        teams: &HashMap<&str, TeamId>,
        fans: &HashMap<&str, UserId>,
        nth: usize,
        entry: &DemoPost,
    ) -> Result<LoadedPost, StoreError> {
        let created_at = ctx.now().minus(minutes(entry.minutes_ago));
        let author = find(fans, &entry.author)?;
        let post = NewPost {
            id: ctx.new_id_at(created_at),
            author,
            team: entry.team.as_deref().map(|team| find(teams, team)).transpose()?,
            body: post_body(&entry.body).map_err(wrong)?,
            image: self.load_picture(tx, ctx, nth, entry, author)?,
            created_at,
        };
        tx.insert_post(&post)?;
        tx.insert_tags(&post.tags())?;
        let mentions = mentions_in(tx, &post.body, author)?;
        if !mentions.is_empty() {
            tx.set_post_mentions(post.id, &mentions)?;
        }
        let mut comments = Vec::new();
        for comment in &entry.comments {
            comments.push(self.load_comment(tx, ctx, fans, &post, &comments, comment)?);
        }
        self.load_reactions(tx, fans, nth, entry, &post.id, created_at)?;
        Ok(LoadedPost { id: post.id, comments, created_at })
    }

    /// Inserts a comment on a post, after those `before`, with its likes.
    fn load_comment(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
        post: &NewPost,
        before: &[CommentId],
        entry: &DemoComment,
    ) -> Result<CommentId, StoreError> {
        let created_at = post.created_at.plus(minutes(entry.minutes_after));
        let author = find(fans, &entry.author)?;
        let parent = |place: usize| place.checked_sub(1).and_then(|place| before.get(place)).copied();
        let reply_to = match entry.reply_to {
            Some(place) => Some(parent(place).ok_or_else(|| wrong(format!("no comment {place} yet")))?),
            None => None,
        };
        let body = comment_body(&entry.body).map_err(wrong)?;
        let comment =
            NewComment { id: ctx.new_id_at(created_at), post: post.id, author, reply_to, body, created_at };
        tx.count_comment(post.id, author)?;
        tx.insert_comment(&comment)?;
        let mentions = mentions_in(tx, &comment.body, author)?;
        if !mentions.is_empty() {
            tx.set_comment_mentions(comment.id, &mentions)?;
        }
        let mut likes = 0;
        for fan in self.likers(entry) {
            likes += i64::from(tx.insert_like(comment.id, find(fans, fan)?, created_at)?);
        }
        if likes > 0 {
            tx.add_to_like_count(comment.id, likes)?;
        }
        Ok(comment.id)
    }

    /// The fans who like a comment: none to four.
    pub(super) fn likers(&self, entry: &DemoComment) -> impl Iterator<Item = &str> {
        let count = number("likes", &entry.author, &entry.body) % 7;
        let first = num::to_usize(number("likers", &entry.author, &entry.body)) % self.demo.fan.len().max(1);
        let others = self.demo.fan.iter().cycle().skip(first).take(self.demo.fan.len());
        let others = others.map(|fan| fan.username.as_str()).filter(move |fan| *fan != entry.author);
        others.take(num::to_usize(count.saturating_sub(2)))
    }

    /// Distributes the reactions over the fans except the author, starting with a different fan for each post.
    fn load_reactions(
        &self,
        tx: &mut dyn ReactionWrite,
        fans: &HashMap<&str, UserId>,
        nth: usize,
        entry: &DemoPost,
        post: &PostId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let others = self.demo.fan.iter().cycle().skip(nth * 7 % self.demo.fan.len().max(1));
        let mut others = others.take(self.demo.fan.len()).filter(|fan| fan.username != entry.author);
        let mut counts = ReactionCounts::default();
        for (kind, count) in &entry.reactions {
            let kind = kind.parse::<ReactionKind>().map_err(wrong)?;
            for fan in others.by_ref().take(num::to_usize(*count)) {
                tx.set_reaction(*post, find(fans, &fan.username)?, Some(kind), at)?;
                counts.add(kind, 1);
            }
        }
        if counts.total() > 0 {
            tx.add_to_reaction_counts(*post, &counts)?;
        }
        Ok(())
    }
}
