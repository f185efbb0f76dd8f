//! Readers of the combined stream: what they receive, and what the log has for their channels.

pub(crate) use super::readers::THE_END;
use crate::crash::dice::Dice;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use terrace_testkit::kernel::{Event, EventKind, TeamId, UserId, Uuid};
use terrace_testkit::scoring::{BoardId, TotalChanges};
use terrace_testkit::{EventStream, ReceivedEvent};

pub(crate) const ALL: &str = "/api/stream";

/// A reader, with the channels that it asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader {
    pub(crate) channels: Vec<String>,
    pub(crate) user: Option<UserId>,
    /// The fans and teams that the reader follows.
    pub(crate) followed: BTreeSet<UserId>,
    pub(crate) followed_teams: BTreeSet<TeamId>,
}

/// What belongs to the channels without being in the events.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) global: BoardId,
    pub(crate) teams: Vec<TeamId>,
    pub(crate) boards: Vec<BoardId>,
    /// The fan whose points are the last change of the global board.
    pub(crate) last: UserId,
    /// The authors of the posts that are older than the readers.
    pub(crate) authors: HashMap<Uuid, UserId>,
}

impl World {
    /// A reader with channels at random, in any order. It has the locker room or the global board, which have an end.
    pub(crate) fn reader(&self, reader: Reader, dice: &mut Dice) -> Reader {
        let mut pool: Vec<String> =
            vec!["room".to_owned(), "board".to_owned(), format!("board:{}", self.global)];
        pool.extend(self.teams.iter().map(|team| format!("room:team:{team}")));
        pool.extend(self.boards.iter().map(|board| format!("board:{board}")));
        if reader.user.is_some() {
            pool.extend(["me", "me", "room:following"].map(str::to_owned));
        }
        let mut channels = Vec::new();
        while !channels.iter().any(|name| name == "room" || name == "board") {
            channels.clear();
            for _ in 0..=dice.below(6) {
                let name = dice.pick(&pool).expect("a channel").clone();
                if !channels.contains(&name) {
                    channels.push(name);
                }
            }
        }
        Reader { channels, ..reader }
    }

    /// What the log has for the reader, in order.
    fn expected(&self, log: &[Event], reader: &Reader) -> Result<Vec<Expected>> {
        let mut authors = self.authors.clone();
        let mut expected = Vec::new();
        for event in log {
            let what = &event.what;
            if let (EventKind::PostCreated, Some(author)) = (what.kind, what.actor) {
                authors.insert(what.subject, author);
            }
            let mut add = |name: &str, channels: Vec<String>, subject: String, board| {
                if !channels.is_empty() {
                    let frame =
                        Frame { position: event.position.get(), name: name.to_owned(), channels, subject };
                    expected.push(Expected { frame, board });
                }
            };
            let room = |author: Option<&UserId>| reader.of_room(author.copied(), what.team);
            #[expect(clippy::wildcard_enum_match_arm, reason = "other kinds are in no stream of these tests")]
            match what.kind {
                EventKind::PostCreated => {
                    add("post.created", room(authors.get(&what.subject)), what.subject.to_string(), None);
                }
                EventKind::CommentCreated => {
                    let comment = what.object.context("a comment")?;
                    add("comment.created", room(authors.get(&what.subject)), comment.to_string(), None);
                }
                EventKind::ReactionChanged => {
                    add("reaction.changed", room(authors.get(&what.subject)), what.subject.to_string(), None);
                }
                EventKind::PointsAwarded => {
                    let fan = what.actor.context("a fan")?;
                    let changes: TotalChanges = event.detail.as_deref().unwrap_or_default().parse()?;
                    let boards: BTreeSet<BoardId> = changes.0.iter().map(|change| change.board).collect();
                    for board in boards {
                        let channels = reader.of_boards(board, self.global);
                        add("score.changed", channels, fan.to_string(), Some(board));
                    }
                    add("points.awarded", reader.own(fan), what.subject.to_string(), None);
                }
                EventKind::StepCompleted | EventKind::QuestCompleted | EventKind::AchievementUnlocked => {
                    let fan = what.actor.context("a fan")?;
                    add(&what.kind.to_string(), reader.own(fan), String::new(), None);
                }
                _ => {}
            }
        }
        Ok(expected)
    }

    /// Compares what the reader received with the log up to the last position that it received.
    pub(crate) fn check(&self, log: &[Event], reader: &Reader, received: &[Frame]) -> Result<()> {
        let until = received.last().context("nothing came")?.position;
        let expected = self.expected(log, reader)?;
        let mut received = received.iter().peekable();
        let so_far = expected.iter().take_while(|known| known.frame.position <= until);
        for (place, Expected { frame, board }) in so_far.enumerate() {
            if received.next_if_eq(&frame).is_some() {
                continue;
            }
            // Of several changes of a fan's line on a board, the newest suffices.
            let is_newer = |later: &Expected| later.board == *board && later.frame.subject == frame.subject;
            let has_newer = board.is_some() && expected[place + 1..].iter().any(is_newer);
            ensure!(has_newer, "{:?}: the log has {frame:?}, not {:?}", reader.channels, received.peek());
        }
        ensure!(received.next().is_none(), "{:?}: more than the log", reader.channels);
        Ok(())
    }
}

impl Reader {
    fn named(&self, has: impl Fn(&str) -> bool) -> Vec<String> {
        self.channels.iter().filter(|name| has(name)).cloned().collect()
    }

    fn of_room(&self, author: Option<UserId>, team: Option<TeamId>) -> Vec<String> {
        let follows_no_one = self.followed.is_empty() && self.followed_teams.is_empty();
        self.named(|name| match name {
            "room" => true,
            "room:following" => {
                follows_no_one
                    || author
                        .is_some_and(|author| Some(author) == self.user || self.followed.contains(&author))
                    || team.is_some_and(|team| self.followed_teams.contains(&team))
            }
            name => team.is_some_and(|team| name == format!("room:team:{team}")),
        })
    }

    fn of_boards(&self, board: BoardId, global: BoardId) -> Vec<String> {
        self.named(|name| (name == "board" && board == global) || name == format!("board:{board}"))
    }

    fn own(&self, fan: UserId) -> Vec<String> {
        self.named(|name| name == "me" && self.user == Some(fan))
    }

    pub(crate) fn path(&self) -> String {
        format!("{ALL}?channels={}", self.channels.join(","))
    }
}

/// An event as the reader receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) position: i64,
    name: String,
    channels: Vec<String>,
    subject: String,
}

#[derive(Debug)]
struct Expected {
    frame: Frame,
    /// The board whose line it changes.
    board: Option<BoardId>,
}

/// What a reader has received so far.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) frames: Vec<Frame>,
    /// The last events, whose position is not complete.
    open: Vec<Frame>,
    ends: BTreeSet<&'static str>,
    /// Why the last connection broke.
    pub(crate) broken: Option<anyhow::Error>,
}

impl Received {
    /// Reads at most `most` events, until the connection ends. Returns whether the reader has the end of its channels.
    /// What it got of an incomplete position is dropped: it comes again.
    pub(crate) fn receive(
        &mut self,
        stream: &mut EventStream,
        most: u64,
        reader: &Reader,
        last: UserId,
    ) -> Result<bool> {
        self.open.clear();
        let ends = ["room", "board"].map(|end| reader.channels.iter().any(|name| name == end));
        let ends = ends.into_iter().filter(|has| *has).count();
        for _ in 0..most {
            let event = match stream.try_next() {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(false),
                Err(error) => {
                    self.broken = Some(error);
                    return Ok(false);
                }
            };
            self.take(&event, last)?;
            if self.open.is_empty() && self.ends.len() == ends {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take(&mut self, event: &ReceivedEvent, last: UserId) -> Result<()> {
        let (name, data) = (event.name.as_str(), &event.data);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let subject = match name {
            "post.created" => text(&data["post"]["id"]),
            "comment.created" => text(&data["comment"]["id"]),
            "reaction.changed" => text(&data["postId"]),
            "score.changed" => text(&data["userId"]),
            "points.awarded" => text(&data["id"]),
            "step.completed" | "quest.completed" | "achievement.unlocked" => String::new(),
            other => bail!("{other} {data}"),
        };
        let channels: Vec<String> =
            data["channels"].as_array().context("no channels")?.iter().map(text).collect();
        if data["post"]["body"] == THE_END && channels.iter().any(|name| name == "room") {
            self.ends.insert("room");
        }
        if subject == last.to_string()
            && name == "score.changed"
            && channels.iter().any(|name| name == "board")
        {
            self.ends.insert("board");
        }
        self.open.push(Frame { position: event.id, name: name.to_owned(), channels, subject });
        if event.id != 0 {
            let before = self.frames.last().map_or(0, |frame| frame.position);
            ensure!(event.id > before, "{} after {before}", event.id);
            for frame in self.open.drain(..) {
                self.frames.push(Frame { position: event.id, ..frame });
            }
        }
        Ok(())
    }
}
