//! The contract under "Locker room and social", Lists: pages of shared feeds are put together from posts that a process
//! keeps (spec §1 rules 1, 2 and 6). They equal the feed after every change, and never lag behind their position.

use anyhow::Result;
use serde_json::{Value, json};
use std::thread;
use terrace_testkit::app::accounts::{RestoreAccount, SuspendAccount};
use terrace_testkit::app::room::{CreatePost, FeedScope, OwnFeedView, React, ReadFeed, ReadOwnFeedView};
use terrace_testkit::kernel::{Entropy, EventKind, Limit, Position, TeamId, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{
    Client, DatabaseKind, SeededEntropy, TestService, on_each_database, question, wait_until,
};

on_each_database! {
    pages_equal_the_feed_after_every_change,
    a_page_shows_every_change_up_to_its_position,
    a_page_without_kept_posts_is_the_same,
    a_page_is_full_although_many_posts_in_a_row_are_hidden,
    pages_of_known_posts_take_no_statement,
    a_reader_of_many_reactions_sees_each,
}

const FEED: &str = "/api/locker-room";
const NAMES: [&str; 4] = ["mia", "bo_", "cy_", "dan"];

struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, bound: usize) -> usize {
        let number = self.0.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(bound).expect("small")).expect("small")
    }

    fn among<'a, T>(&self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

struct Room<'s> {
    service: &'s TestService,
    dice: Dice,
    fans: Vec<(Client, UserId)>,
    team: TeamId,
    /// The ids of posts, and their authors.
    posts: Vec<(String, usize)>,
    comments: Vec<(String, usize)>,
    suspended: Option<&'static str>,
}

impl<'s> Room<'s> {
    fn new(service: &'s TestService, seed: u64) -> Self {
        let fans = NAMES.map(|name| {
            let client = service.fan(name);
            let id = client.get("/api/user").expect(200).str_at("/id").parse().expect("an id");
            (client, id)
        });
        let team = fans[0].0.get("/api/teams").expect(200).str_at("/teams/0/id").parse().expect("an id");
        let dice = Dice(SeededEntropy::new(seed));
        let (posts, comments) = (Vec::new(), Vec::new());
        Self { service, dice, fans: fans.into(), team, posts, comments, suspended: None }
    }

    fn post(&mut self) {
        let author = self.dice.below(self.fans.len());
        let mut body = json!({"body": format!("Post {} \"myReaction\":null", self.posts.len())});
        if self.dice.below(3) == 0 {
            body["teamId"] = json!(self.team.to_string());
        }
        let answer = self.fans[author].0.post(FEED, &body);
        if answer.status == 201 {
            self.posts.push((answer.str_at("/post/id"), author));
        }
    }

    /// Changes something. The service refuses some of it: fans are suspended, and block each other.
    fn change(&mut self) {
        let fan = self.dice.below(self.fans.len());
        let client = &self.fans[fan].0;
        let (post, author) = self.dice.among(&self.posts).clone();
        let path = format!("{FEED}/{post}");
        match self.dice.below(14) {
            0 | 1 => self.post(),
            2..=4 => {
                client.post(&format!("{path}/react"), &json!({"kind": self.dice.among(&["like", "fire"])}));
            }
            5 => {
                client.delete(&format!("{path}/react"));
            }
            6 => {
                let answer = client.post(&format!("{path}/comments"), &json!({"body": "Yes"}));
                if let Some(comment) = answer.header("location").filter(|_| answer.status == 201) {
                    self.comments.push((comment.to_owned(), fan));
                }
            }
            7 => {
                if let Some((comment, fan)) = self.comments.pop() {
                    self.fans[fan].0.delete(&comment);
                }
            }
            8 | 9 => {
                let body = json!({"body": format!("Edit {}", self.dice.below(1000))});
                self.fans[author].0.patch(&path, &body);
            }
            10 => {
                let name = format!("Fan {}", self.dice.below(1000));
                client.patch("/api/user", &json!({"displayName": name}));
            }
            11 => {
                let other = self.fans[(fan + 1) % self.fans.len()].1;
                let path = if self.dice.below(2) == 0 { "/api/user/block" } else { "/api/user/unblock" };
                client.post(path, &json!({"userId": other.to_string()}));
            }
            12 => {
                let (service, app) = (self.service, self.service.app());
                if let Some(name) = self.suspended.take() {
                    let restore = RestoreAccount { username: name.to_owned() };
                    service.run(app.execute(restore)).expect("restored");
                } else {
                    // The last fan reads nothing, so that this one's session is not needed.
                    let name = NAMES[NAMES.len() - 1];
                    let suspend = SuspendAccount { username: name.to_owned() };
                    service.run(app.execute(suspend)).expect("suspended");
                    self.suspended = Some(name);
                }
            }
            _ => {
                self.fans[author].0.delete(&path);
            }
        }
    }

    /// Pages through a feed over HTTP and compares it with the same feed, read at once from the tables.
    fn compare(&self, scope: FeedScope, reader: Option<usize>) {
        let limit = Limit::new(100).expect("a limit");
        let fan = reader.map(|reader| self.fans[reader].1);
        let whole =
            self.service.run(self.service.app().query(ReadFeed { scope, reader: fan, limit, after: None }));
        let whole = whole.expect("a feed").page;
        assert_eq!(whole.next, None, "the test reads the whole feed at once");
        let expected: Vec<Value> = whole
            .items
            .iter()
            .map(|view| {
                json!([
                    view.post.id.to_string(),
                    view.post.body,
                    view.post.comment_count,
                    view.post.reactions.total(),
                    view.author.display_name,
                    view.my_reaction.map(ReactionKind::as_str),
                ])
            })
            .collect();
        let visitor = self.service.client();
        let client = reader.map_or(&visitor, |reader| &self.fans[reader].0);
        let rows = 1 + self.dice.below(8);
        let room = if let FeedScope::Team(team) = scope {
            format!("&scope=team&teamId={team}")
        } else {
            String::new()
        };
        let (mut listed, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&format!("{FEED}?limit={rows}{room}{cursor}")).expect(200);
            let posts = page.list("/posts");
            assert!(posts.len() == rows || page.at("/nextCursor").is_null(), "pages are full");
            listed.extend(posts.iter().map(|post| {
                json!([
                    post["id"],
                    post["body"],
                    post["commentCount"],
                    post["reactionCount"],
                    post["author"]["displayName"],
                    post["myReaction"],
                ])
            }));
            let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
            assert!(!posts.is_empty());
            cursor = format!("&cursor={next}");
        }
        assert_eq!(listed, expected, "{scope:?} as seen by {reader:?}, {rows} rows a page");
    }
}

fn pages_equal_the_feed_after_every_change(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mut room = Room::new(&service, 11);
    for _ in 0..24 {
        room.post();
    }
    for _ in 0..60 {
        room.change();
        for scope in [FeedScope::All, FeedScope::Team(room.team)] {
            for reader in [None, Some(0), Some(1)] {
                room.compare(scope, reader);
            }
        }
    }
    Ok(())
}

/// One process writes, and another serves pages with these posts meanwhile.
fn a_page_shows_every_change_up_to_its_position(kind: DatabaseKind) -> Result<()> {
    const COMMENTS: usize = 60;
    const POSTS_AFTER: usize = 3;
    let service = TestService::start(kind)?;
    let other = service.beside(|_| {})?;
    let mia = service.fan("mia");
    let post = mia.create_post("Comment here");
    let later = mia.create_post("Newer");
    let visitor = other.client();
    wait_until("the other process shows both posts", || {
        Ok(visitor.get(FEED).expect(200).list("/posts").len() == 2)
    })?;
    let next = visitor.get(&format!("{FEED}?limit=1")).expect(200);
    assert_eq!(next.at("/posts/0/id"), json!(later));
    // Two pages with the same post. All posts are on the first.
    let first = format!("{FEED}?limit=100");
    let pages = [first.clone(), format!("{FEED}?limit=1&cursor={}", next.str_at("/nextCursor"))];
    let seen: Vec<(i64, usize, Option<usize>)> = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for number in 1..=COMMENTS {
                mia.post(&format!("{FEED}/{post}/comments"), &json!({"body": "Yes"})).expect(201);
                if number % POSTS_AFTER == 0 {
                    mia.create_post("Newer still");
                }
            }
        });
        let mut seen = Vec::new();
        loop {
            let ended = writing.is_finished();
            for path in &pages {
                let page = visitor.get(path).expect(200);
                let posts = (*path == first).then(|| page.list("/posts").len());
                let shown = page.list("/posts").into_iter().find(|shown| shown["id"] == json!(post));
                let comments = shown.and_then(|shown| shown["commentCount"].as_u64()).expect("the post");
                let position = page.at("/streamPosition").as_i64().expect("a position");
                seen.push((position, usize::try_from(comments).expect("few"), posts));
            }
            if ended && seen.last().is_some_and(|(_, comments, _)| *comments == COMMENTS) {
                break;
            }
        }
        writing.join().expect("the writer");
        seen
    });
    let log = service.run(service.app().query(question(|tx| tx.events_after(Position::START, 100_000))));
    let log = log.expect("the log");
    let created = |kind| -> Vec<i64> {
        let events = log.iter().filter(|event| event.what.kind == kind);
        events.map(|event| event.position.get()).collect()
    };
    let (comments, posts) = (created(EventKind::CommentCreated), created(EventKind::PostCreated));
    assert_eq!((comments.len(), posts.len()), (COMMENTS, 2 + COMMENTS / POSTS_AFTER));
    for (position, shown_comments, shown_posts) in seen {
        let public = |created: &[i64]| created.iter().filter(|created| **created <= position).count();
        assert!(
            public(&comments) <= shown_comments,
            "{shown_comments} comments on a page of {position}, which {} precede",
            public(&comments)
        );
        if let Some(shown) = shown_posts {
            assert!(
                public(&posts) <= shown,
                "{shown} posts on a page of {position}, which {} precede",
                public(&posts)
            );
        }
    }
    Ok(())
}

fn a_page_is_full_although_many_posts_in_a_row_are_hidden(kind: DatabaseKind) -> Result<()> {
    const HIDDEN: usize = 210;
    let service = TestService::builder(kind).without_dry_run().start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let old = [mia.create_post("First"), mia.create_post("Second")];
    for number in 0..HIDDEN {
        bo.create_post(&format!("Hidden {number}"));
    }
    let new = mia.create_post("Third");
    let first = |client: &Client| {
        let page = client.get(&format!("{FEED}?limit=1")).expect(200);
        assert_eq!(page.at("/posts/0/id"), json!(new));
        page.str_at("/nextCursor")
    };
    assert!(!first(&mia).is_empty());
    let blocked = bo.get("/api/user").expect(200).str_at("/id");
    let answer = mia.post("/api/user/block", &json!({"userId": blocked}));
    assert!((200..300).contains(&answer.status), "{}", answer.text());
    let mut cursor = first(&mia);
    for (nth, id) in old.iter().rev().enumerate() {
        let page = mia.get(&format!("{FEED}?limit=1&cursor={cursor}")).expect(200);
        assert_eq!(page.at("/posts/0/id"), json!(id));
        assert_eq!(page.at("/nextCursor").is_null(), nth == 1);
        page.at("/nextCursor").as_str().unwrap_or_default().clone_into(&mut cursor);
    }
    assert_eq!(bo.get(&format!("{FEED}?limit=100")).expect(200).at("/posts/0/body"), json!("Hidden 209"));
    Ok(())
}

/// An operator may give the posts no memory.
fn a_page_without_kept_posts_is_the_same(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).web(|web| web.post_memory = 0).start()?;
    let mut room = Room::new(&service, 12);
    for _ in 0..12 {
        room.post();
    }
    for _ in 0..6 {
        room.change();
        for reader in [None, Some(0)] {
            room.compare(FeedScope::All, reader);
        }
    }
    Ok(())
}

/// Whether signed out or in. What the process does beside it takes statements too, but ends.
fn pages_of_known_posts_take_no_statement(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).without_dry_run().start()?;
    let (mia, bo, visitor) = (service.fan("mia"), service.fan("bo_"), service.client());
    let posts: Vec<String> = (0..12).map(|number| bo.create_post(&format!("Post {number}"))).collect();
    let cursors: Vec<String> = (1..9)
        .map(|rows| visitor.get(&format!("{FEED}?limit={rows}")).expect(200).str_at("/nextCursor"))
        .collect();
    let statements = |client: &Client| {
        let before = service.storage().statements();
        for cursor in &cursors {
            client.get(&format!("{FEED}?limit=3&cursor={cursor}")).expect(200);
        }
        service.storage().statements() - before
    };
    for _ in 0..2 {
        for client in [&mia, &visitor] {
            wait_until("pages take no statement", || Ok(statements(client) == 0))?;
        }
        bo.post(&format!("{FEED}/{}/react", posts[0]), &json!({"kind": "fire"})).expect(200);
        bo.create_post("Newest");
    }
    Ok(())
}

/// More own reactions than a process keeps for a reader.
fn a_reader_of_many_reactions_sees_each(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).without_dry_run().start()?;
    let mia = service.fan("mia");
    let fan: UserId = mia.get("/api/user").expect(200).str_at("/id").parse()?;
    let kinds = [ReactionKind::Like, ReactionKind::Sad];
    let app = service.app();
    for number in 0..=OwnFeedView::MOST_REACTIONS {
        let post = CreatePost { author: fan, team: None, media: None, body: format!("Post {number}") };
        let post = service.run(app.execute(post)).expect("a post").post.id;
        service.run(app.execute(React { fan, post, kind: Some(kinds[number % 2]) })).expect("a reaction");
    }
    let view = service.run(app.query(ReadOwnFeedView { reader: fan })).expect("a view");
    assert_eq!(view.reactions, None, "they are too many to be kept");
    let (mut shown, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = mia.get(&format!("{FEED}?limit=100{cursor}")).expect(200);
        shown.extend(page.list("/posts").iter().map(|post| post["myReaction"].clone()));
        let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
        cursor = format!("&cursor={next}");
    }
    let expected: Vec<Value> = (0..shown.len()).rev().map(|n| json!(kinds[n % 2].as_str())).collect();
    assert_eq!((shown.len(), shown), (OwnFeedView::MOST_REACTIONS + 1, expected));
    Ok(())
}
