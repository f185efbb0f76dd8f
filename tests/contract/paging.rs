//! The contract under "Conventions", Lists: every row that existed at the first page appears exactly once,
//! later ones at most once, whatever is written and deleted meanwhile, and though many rows have one time.

use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use terrace_testkit::app::App;
use terrace_testkit::app::room::{
    CreateComment, CreatePost, DeleteComment, DeletePost, FeedScope, ListComments, ReadFeed,
};
use terrace_testkit::kernel::{CommentId, Entropy, Limit, PostId, TeamId, TimeKey, UserId};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database};

on_each_database! {
    a_feed_is_paged_while_others_write,
    a_room_is_paged_while_others_write,
    comments_are_paged_while_others_write,
    a_feed_is_paged_while_two_processes_write_at_once,
}

/// Random numbers that are the same in every run.
struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, bound: usize) -> usize {
        let number = u64::from_le_bytes(*self.0.seed().first_chunk().expect("32 bytes"));
        usize::try_from(number % u64::try_from(bound).expect("small")).expect("small")
    }
}

/// A list in which a test writes, deletes and pages.
trait List {
    type Id: Copy + Ord + std::fmt::Debug;

    /// Whether later rows come later in the list.
    const ASCENDING: bool;

    fn insert(&self) -> Self::Id;
    fn delete(&self, id: Self::Id);
    fn page(&self, limit: Limit, after: Option<TimeKey>) -> (Vec<(TimeKey, Self::Id)>, Option<TimeKey>);
}

struct Feed<'h> {
    service: &'h TestApp,
    fan: UserId,
    team: Option<TeamId>,
}

impl List for Feed<'_> {
    type Id = PostId;

    const ASCENDING: bool = false;

    fn insert(&self) -> PostId {
        let post = CreatePost { author: self.fan, team: self.team, body: "Listed".to_owned(), media: None };
        self.service.done(post).post.id
    }

    fn delete(&self, post: PostId) {
        self.service.done(DeletePost { user: self.fan, post });
    }

    fn page(&self, limit: Limit, after: Option<TimeKey>) -> (Vec<(TimeKey, PostId)>, Option<TimeKey>) {
        let scope = self.team.map_or(FeedScope::All, FeedScope::Team);
        let page = self.service.found(ReadFeed { scope, reader: Some(self.fan), limit, after }).page;
        (page.items.iter().map(|view| (view.post.key(), view.post.id)).collect(), page.next)
    }
}

struct Comments<'h> {
    service: &'h TestApp,
    fan: UserId,
    post: PostId,
}

impl List for Comments<'_> {
    type Id = CommentId;

    const ASCENDING: bool = true;

    fn insert(&self) -> CommentId {
        let comment = CreateComment { author: self.fan, post: self.post, body: "Listed".to_owned() };
        self.service.done(comment).comment.id
    }

    fn delete(&self, comment: CommentId) {
        self.service.done(DeleteComment { user: self.fan, post: self.post, comment });
    }

    fn page(&self, limit: Limit, after: Option<TimeKey>) -> (Vec<(TimeKey, CommentId)>, Option<TimeKey>) {
        let page = self.service.found(ListComments { post: self.post, reader: None, limit, after });
        (page.items.iter().map(|comment| (comment.key(), comment.id)).collect(), page.next)
    }
}

/// Pages through the list several times, each time with other page lengths, with other writes between the
/// pages. The clock stands still for most of it.
fn page_through<L: List>(service: &TestApp, list: &L) {
    let mut live = BTreeSet::new();
    for seed in 0..4 {
        let dice = Dice(SeededEntropy::new(seed));
        let insert = |live: &mut BTreeSet<L::Id>| {
            if dice.below(6) == 0 {
                service.clock().advance(Duration::from_micros(700));
            }
            live.insert(list.insert());
        };
        (0..15).for_each(|_| insert(&mut live));
        let existed = live.clone();
        let mut deleted = BTreeSet::new();
        let (mut seen, mut after): (Vec<(TimeKey, L::Id)>, _) = (Vec::new(), None);
        for turn in 0.. {
            let rows = 1 + dice.below(6);
            let limit = Limit::new(i64::try_from(rows).expect("small")).expect("in bounds");
            let (items, next) = list.page(limit, after);
            assert!(items.len() == rows || next.is_none(), "a short page with a next one");
            seen.extend(items);
            after = next;
            if after.is_none() {
                break;
            }
            // In later turns the reader must get a chance to reach the end.
            for _ in 0..if turn < 20 { dice.below(4) } else { 0 } {
                if dice.below(3) == 0 && !live.is_empty() {
                    let id = *live.iter().nth(dice.below(live.len())).expect("in bounds");
                    live.remove(&id);
                    deleted.insert(id);
                    list.delete(id);
                } else {
                    insert(&mut live);
                }
            }
        }
        let in_order =
            seen.windows(2).all(|pair| (pair[0].0 < pair[1].0) == L::ASCENDING && pair[0].0 != pair[1].0);
        assert!(in_order, "seed {seed}: out of order, or twice: {seen:?}");
        let seen: BTreeSet<_> = seen.into_iter().map(|(_, id)| id).collect();
        let missed: Vec<_> = existed.difference(&deleted).filter(|id| !seen.contains(id)).collect();
        assert!(missed.is_empty(), "seed {seed}: skipped {missed:?}");
        assert!(seen.iter().all(|id| live.contains(id) || deleted.contains(id)), "seed {seed}");
    }
}

/// GET /api/locker-room.
fn a_feed_is_paged_while_others_write(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    page_through(&service, &Feed { service: &service, fan, team: None });
    Ok(())
}

/// GET /api/locker-room?scope=team, among the posts of other rooms.
fn a_room_is_paged_while_others_write(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let rooms = [None, Some(service.team("rovers"))].map(|team| Feed { service: &service, fan, team });
    for n in 0..20 {
        rooms[n % 2].insert();
    }
    page_through(&service, &Feed { service: &service, fan, team: Some(service.team("foxes")) });
    Ok(())
}

/// GET /api/locker-room/{id}/comments, oldest first.
fn comments_are_paged_while_others_write(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    let room = Feed { service: &service, fan, team: None };
    let posts = [room.insert(), room.insert()];
    let [other, list] = posts.map(|post| Comments { service: &service, fan, post });
    for _ in 0..20 {
        other.insert();
    }
    page_through(&service, &list);
    Ok(())
}

/// What is certain about posts that another task writes and deletes.
#[derive(Default)]
struct CertainPosts {
    /// Posts whose creation was answered.
    created: BTreeSet<PostId>,
    /// Posts whose deletion may have been requested.
    doomed: BTreeSet<PostId>,
    writers: usize,
}

async fn write_and_delete(app: Arc<App>, fan: UserId, known: Arc<Mutex<CertainPosts>>) {
    for n in 0..24 {
        let post = CreatePost { author: fan, team: None, body: format!("Post {n}"), media: None };
        let post = app.execute(post).await.expect("a post").post.id;
        known.lock().expect("sound").created.insert(post);
        if n % 3 == 0 {
            known.lock().expect("sound").doomed.insert(post);
            app.execute(DeletePost { user: fan, post }).await.expect("one's own post");
        }
    }
    known.lock().expect("sound").writers -= 1;
}

/// The same without synchronisation: four writers in two processes, and a reader who starts over until they
/// are done. All posts have one time.
fn a_feed_is_paged_while_two_processes_write_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 4);
    let feed = Feed { service: &service, fan: fans[0], team: None };
    let known = Arc::new(Mutex::new(CertainPosts { writers: fans.len(), ..CertainPosts::default() }));
    let writers: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            service.spawn(write_and_delete(app, *fan, Arc::clone(&known)))
        })
        .collect();
    loop {
        let (existed, last_turn) = {
            let known = known.lock().expect("sound");
            (known.created.clone(), known.writers == 0)
        };
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let (items, next) = feed.page(Limit::new(3)?, after);
            seen.extend(items.into_iter().map(|(_, id)| id));
            after = next;
            if after.is_none() {
                break;
            }
        }
        let once: BTreeSet<_> = seen.iter().copied().collect();
        assert_eq!(once.len(), seen.len(), "a post came twice");
        let known = known.lock().expect("sound");
        let missed: Vec<_> = existed.difference(&known.doomed).filter(|post| !once.contains(post)).collect();
        assert!(missed.is_empty(), "skipped {missed:?}");
        if last_turn {
            assert_eq!(once.len(), 4 * 16);
            break;
        }
    }
    for writer in writers {
        service.join(writer);
    }
    Ok(())
}
