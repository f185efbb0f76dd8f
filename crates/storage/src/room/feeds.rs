//! Feeds: those that are read from one index, and those that are gathered from all places (authors and team rooms) that
//! a reader follows.
//!
//! A gathered page is selected by its sort keys first, and its posts are read afterwards. One statement thus decides
//! which posts are on the page and where the next page starts, even if posts are deleted in the meantime.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::graph::not_hidden;
use crate::room::gather;
use crate::room::gather::{Dialect, FeedSql, Places};
use crate::room::posts::{NoText, ViewRow, into_view, own, shown, view_columns};
use crate::rows::{keyset, limited};
use crate::schema::{posts, reactions as reaction_rows};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_identity::AuthorCard;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_social::{FeedFilter, FeedRead, FollowedPlaces, Gathered, PostView};

impl DieselTx<'_> {
    /// The sort keys that a statement returns, in their order, up to one more than a page holds.
    fn places(&mut self, words: FeedSql<Places>) -> Result<Vec<TimeKey>, StoreError> {
        let rows: Vec<(At, Key)> =
            on!(self.conn, |conn| words.load(conn)).map_err(broken("pick the posts of a feed"))?;
        Ok(rows.into_iter().map(|(At(at), Key(id))| TimeKey { at, id }).collect())
    }
}

impl FeedRead<AuthorCard> for DieselTx<'_> {
    fn feed(
        &mut self,
        filter: FeedFilter,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<AuthorCard>>, StoreError> {
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            let mut query = shown().into_boxed();
            if let FeedFilter::Team(team) = filter {
                query = query.filter(posts::team_id.eq(Key::of(team)));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, posts::created_at < At(at), posts::id < Key(id));
            }
            let page = query.order((posts::created_at.desc(), posts::id.desc()));
            match reader {
                Some(fan) => limited(
                    page.filter(not_hidden(posts::author_id, reader))
                        .left_join(own(Key::of(fan)))
                        .select(view_columns!(reaction_rows::kind.nullable())),
                    limit,
                )
                .load(conn),
                None => {
                    limited(page.select(view_columns!(None::<String>.into_sql::<NoText>())), limit).load(conn)
                }
            }
        })
        .map_err(broken("read a feed"))?;
        let views = rows.into_iter().map(into_view).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(views, limit, |view| view.post.key()))
    }

    fn feed_keys(
        &mut self,
        filter: FeedFilter,
        most: u16,
        after: Option<TimeKey>,
    ) -> Result<Vec<TimeKey>, StoreError> {
        let rows: Vec<(At, Key)> = on!(self.conn, |conn| {
            let mut query = posts::table.filter(posts::deleted_at.is_null()).into_boxed();
            if let FeedFilter::Team(team) = filter {
                query = query.filter(posts::team_id.eq(Key::of(team)));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, posts::created_at < At(at), posts::id < Key(id));
            }
            query
                .order((posts::created_at.desc(), posts::id.desc()))
                .select((posts::created_at, posts::id))
                .limit(most.into())
                .load(conn)
        })
        .map_err(broken("read the keys of a feed"))?;
        Ok(rows.into_iter().map(|(At(at), Key(id))| TimeKey { at, id }).collect())
    }

    fn followed_places(&mut self, reader: UserId, most: u32) -> Result<FollowedPlaces, StoreError> {
        let words = gather::followed_places(reader, most);
        let (people, teams): (i64, i64) =
            on!(self.conn, |conn| words.get_result(conn)).map_err(broken("count a fan's follows"))?;
        let bounded = |count| u32::try_from(count).unwrap_or(most);
        Ok(FollowedPlaces { people: bounded(people), teams: bounded(teams) })
    }

    fn followed_among_newest(
        &mut self,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Option<Page<TimeKey>>, StoreError> {
        let places = self.places(gather::among_newest(reader, limit, after))?;
        let is_full = places.len() > usize::from(limit.rows());
        Ok(is_full.then(|| Page::from_overfull(places, limit, |place| *place)))
    }

    fn gather(
        &mut self,
        from: Gathered,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<TimeKey>, StoreError> {
        let dialect = match self.conn {
            Conn::Pg(_) => Dialect::Postgres,
            Conn::Sqlite(_) => Dialect::Sqlite,
        };
        let places = self.places(gather::gathered(from, dialect, reader, limit, after))?;
        Ok(Page::from_overfull(places, limit, |place| *place))
    }

    fn posts_at(
        &mut self,
        places: &[TimeKey],
        reader: UserId,
    ) -> Result<Vec<PostView<AuthorCard>>, StoreError> {
        let ids = places.iter().map(|place| Key(place.id));
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            shown()
                .filter(posts::id.eq_any(ids))
                .left_join(own(Key::of(reader)))
                .select(view_columns!(reaction_rows::kind.nullable()))
                .load(conn)
        })
        .map_err(broken("read the posts of a feed"))?;
        let mut views = rows.into_iter().map(into_view).collect::<Result<Vec<_>, _>>()?;
        views.sort_unstable_by_key(|view| std::cmp::Reverse(view.post.key()));
        Ok(views)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Database, DatabaseKind, at, fan, on_each_database, plans_of, post, run, team, uuid,
    };
    use std::collections::BTreeSet;
    use terrace_kernel::TeamId;
    use terrace_social::{
        GraphWrite, NewPost, PostRead, PostWrite, ReactionKind, ReactionWrite, TeamFollowWrite,
    };

    on_each_database! {
        a_feed_pages_through_posts_of_one_instant,
        a_reader_sees_the_author_and_only_their_own_reaction,
        who_blocks_and_who_is_blocked_see_another_page,
        following_is_counted_up_to_a_bound_and_without_who_is_not_active,
        what_is_gathered_is_what_there_is,
    }

    /// Reads a whole list in pages of `rows` and returns the keys of its posts.
    fn read_through<T>(
        rows: u8,
        key: impl Fn(&T) -> u128,
        mut page: impl FnMut(Limit, Option<TimeKey>) -> Page<T>,
    ) -> Vec<u128> {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = page(Limit::new(i64::from(rows)).unwrap(), after);
            assert!(page.items.len() == usize::from(rows) || page.next.is_none());
            seen.extend(page.items.iter().map(&key));
            match page.next {
                Some(key) => after = Some(key),
                None => return seen,
            }
        }
    }

    fn whole_feed(tx: &mut DieselTx<'_>, rows: u8, filter: FeedFilter, reader: Option<UserId>) -> Vec<u128> {
        let id = |view: &PostView<AuthorCard>| view.post.id.as_uuid().as_u128();
        read_through(rows, id, |limit, after| tx.feed(filter, reader, limit, after).unwrap())
    }

    fn whole_gathered(tx: &mut DieselTx<'_>, rows: u8, from: Gathered, reader: UserId) -> Vec<u128> {
        let id = |place: &TimeKey| place.id.as_u128();
        read_through(rows, id, |limit, after| tx.gather(from, reader, limit, after).unwrap())
    }

    fn a_feed_pages_through_posts_of_one_instant(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        for (n, micros) in [(14, 5), (10, 5), (12, 5), (11, 5), (13, 5), (20, 4), (9, 6)] {
            post(tx, n, ana, None, micros);
        }
        let hidden = post(tx, 15, ana, None, 5);
        assert!(tx.mark_post_deleted(hidden, at(9)).unwrap());
        assert!(!tx.mark_post_deleted(hidden, at(9)).unwrap());
        let in_order = [9, 14, 13, 12, 11, 10, 20];
        for reader in [None, Some(ana)] {
            assert_eq!(whole_feed(tx, 2, FeedFilter::All, reader), in_order);
        }
        for most in [2, 7, 9] {
            for read in 0..7 {
                let after =
                    (read > 0).then(|| tx.feed_keys(FeedFilter::All, read, None).unwrap().pop().unwrap());
                let keys = tx.feed_keys(FeedFilter::All, most, after).unwrap();
                let ids: Vec<_> = keys.iter().map(|key| key.id.as_u128()).collect();
                let rest = &in_order[usize::from(read)..];
                assert_eq!(ids, rest[..usize::from(most).min(rest.len())]);
            }
        }
        assert_eq!(whole_gathered(tx, 2, Gathered::Followed, ana), in_order, "one's own are among them");
        assert_eq!(tx.post(hidden, None).unwrap(), None);
        assert_eq!(tx.lock_post(hidden, None).unwrap(), None);
    }

    fn a_reader_sees_the_author_and_only_their_own_reaction(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea, zoe) = (fan(tx, 1), fan(tx, 2), fan(tx, 3));
        let id = post(tx, 10, ana, None, 0);
        tx.set_reaction(id, bea, Some(ReactionKind::Fire), at(1)).unwrap();
        tx.set_reaction(id, zoe, Some(ReactionKind::Sad), at(1)).unwrap();
        for (reader, own) in [(None, None), (Some(ana), None), (Some(bea), Some(ReactionKind::Fire))] {
            let page = tx.feed(FeedFilter::All, reader, Limit::default(), None).unwrap();
            let alone = tx.post(id, reader).unwrap().unwrap();
            assert_eq!(page.items, std::slice::from_ref(&alone));
            assert_eq!((alone.my_reaction, alone.author.username.as_str()), (own, "fan1"));
            assert_eq!(tx.lock_post(id, reader).unwrap(), Some(alone.post.clone()));
            assert_eq!(tx.feed_keys(FeedFilter::All, 3, None).unwrap(), [alone.post.key()]);
            let Some(reader) = reader else { continue };
            assert_eq!(tx.posts_at(&[alone.post.key()], reader).unwrap(), std::slice::from_ref(&alone));
        }
    }

    fn who_blocks_and_who_is_blocked_see_another_page(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [ana, bea, zoe] = [1, 2, 3].map(|n| fan(tx, n));
        let posts = [(10, ana), (11, bea), (12, zoe), (13, bea), (14, ana)];
        for (n, author) in posts {
            post(tx, n, author, None, i64::try_from(n).unwrap());
        }
        assert!(tx.insert_block(ana, bea, at(1)).unwrap());
        for (reader, expected) in [
            (None, vec![14, 13, 12, 11, 10]),
            (Some(ana), vec![14, 12, 10]),
            (Some(bea), vec![13, 12, 11]),
            (Some(zoe), vec![14, 13, 12, 11, 10]),
        ] {
            for rows in [1, 2, 5] {
                assert_eq!(whole_feed(tx, rows, FeedFilter::All, reader), expected);
            }
        }
    }

    fn following_is_counted_up_to_a_bound_and_without_who_is_not_active(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans: Vec<UserId> = (1..=6).map(|n| fan(tx, n)).collect();
        let red = team(tx, 1);
        let following = |tx: &mut DieselTx<'_>| tx.followed_places(fans[0], 3).unwrap();
        assert!(following(tx).are_none());
        for (n, followee) in fans.iter().enumerate().skip(1) {
            assert!(tx.insert_follow(fans[0], *followee, at(1)).unwrap());
            assert_eq!(following(tx), FollowedPlaces { people: u32::try_from(n).unwrap().min(3), teams: 0 });
        }
        assert!(tx.insert_team_follow(fans[0], red, at(1)).unwrap());
        run(tx, "UPDATE users SET status = 'suspended' WHERE username <> 'fan4'");
        assert_eq!(following(tx), FollowedPlaces { people: 1, teams: 1 });
    }

    /// A deterministic pseudo-random number generator.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// Random test data: follows, blocks, suspended accounts, teams, and posts that share few instants.
    struct World {
        fans: Vec<UserId>,
        shown: BTreeSet<UserId>,
        followed: BTreeSet<UserId>,
        teams: BTreeSet<TeamId>,
        favorite: Option<TeamId>,
        /// In the order of a feed.
        posts: Vec<NewPost>,
    }

    impl World {
        const READER: usize = 0;

        fn make(tx: &mut DieselTx<'_>, seed: u64) -> Self {
            let mut dice = Dice(seed);
            let fans: Vec<UserId> = (1..=14).map(|n| fan(tx, n)).collect();
            let rooms: Vec<TeamId> = (1..=5).map(|n| team(tx, n)).collect();
            let reader = fans[Self::READER];
            let mut shown: BTreeSet<UserId> = fans.iter().copied().collect();
            let (mut followed, mut teams) = (BTreeSet::new(), BTreeSet::new());
            for other in fans.iter().skip(1) {
                match dice.below(8) {
                    0 => {
                        let (from, to) = if dice.below(2) == 0 { (reader, *other) } else { (*other, reader) };
                        assert!(tx.insert_block(from, to, at(0)).unwrap());
                        shown.remove(other);
                    }
                    1 | 2 => {}
                    _ => {
                        assert!(tx.insert_follow(reader, *other, at(0)).unwrap());
                        followed.insert(*other);
                    }
                }
                if dice.below(6) == 0 {
                    let sql = format!("UPDATE users SET status = 'suspended' WHERE username = '{}'", {
                        let n = other.as_uuid().as_u128();
                        format!("fan{n}")
                    });
                    run(tx, &sql);
                    shown.remove(other);
                }
            }
            for room in &rooms {
                if dice.below(2) == 0 {
                    assert!(tx.insert_team_follow(reader, *room, at(0)).unwrap());
                    teams.insert(*room);
                }
            }
            let favorite = rooms.get(usize::try_from(dice.below(7)).unwrap()).copied();
            if let Some(team) = favorite {
                let uid = Key::of(team);
                let key = Key::of(reader);
                on!(tx.conn, |conn| {
                    diesel::update(crate::schema::users::table.find(key))
                        .set(crate::schema::users::favorite_team_id.eq(uid))
                        .execute(conn)
                })
                .unwrap();
            }
            let mut posts: Vec<NewPost> = (1000..1120)
                .map(|n| {
                    // Some authors write much more than others.
                    let rank = dice.below(14) * dice.below(14) / 14;
                    let author = fans[usize::try_from(rank).unwrap()];
                    let room = usize::try_from(dice.below(10)).unwrap();
                    let micros = i64::try_from(dice.below(40)).unwrap();
                    let id = post(tx, n, author, rooms.get(room).copied(), micros);
                    NewPost {
                        id,
                        author,
                        team: rooms.get(room).copied(),
                        body: String::new(),
                        image: None,
                        created_at: at(micros),
                    }
                })
                .collect();
            let gone = posts.swap_remove(usize::try_from(dice.below(120)).unwrap());
            assert!(tx.mark_post_deleted(gone.id, at(50)).unwrap());
            posts.sort_unstable_by_key(|post| std::cmp::Reverse((post.created_at, post.id)));
            Self { fans, shown, followed, teams, favorite, posts }
        }

        fn expected(&self, belongs: impl Fn(&NewPost) -> bool) -> Vec<u128> {
            let here = self.posts.iter().filter(|post| self.shown.contains(&post.author) && belongs(post));
            here.map(|post| post.id.as_uuid().as_u128()).collect()
        }
    }

    fn what_is_gathered_is_what_there_is(kind: DatabaseKind) {
        for seed in 0..8 {
            let mut database = Database::on(kind);
            let tx = &mut database.tx();
            let world = World::make(tx, seed);
            let reader = world.fans[World::READER];
            let in_team = |post: &NewPost| post.team.is_some_and(|team| world.teams.contains(&team));
            let followed = world.expected(|post| {
                post.author == reader || world.followed.contains(&post.author) || in_team(post)
            });
            let own =
                world.expected(|post| in_team(post) || (post.team.is_some() && post.team == world.favorite));
            assert!(!followed.is_empty());
            for rows in [1, 2, 5, 12, 100] {
                assert_eq!(whole_gathered(tx, rows, Gathered::Followed, reader), followed, "seed {seed}");
                assert_eq!(whole_gathered(tx, rows, Gathered::OwnTeams, reader), own, "seed {seed}");
                let limit = Limit::new(i64::from(rows)).unwrap();
                let mut after = None;
                // The search covers all posts of the test, so a full page that it returns must be the correct page.
                while let Some(page) = tx.followed_among_newest(reader, limit, after).unwrap() {
                    assert_eq!(page, tx.gather(Gathered::Followed, reader, limit, after).unwrap());
                    let views = tx.posts_at(&page.items, reader).unwrap();
                    assert_eq!(views.iter().map(|view| view.post.key()).collect::<Vec<_>>(), page.items);
                    after = page.next;
                }
                let last = tx.gather(Gathered::Followed, reader, limit, after).unwrap();
                assert_eq!(last.next, None, "seed {seed}: what fills a page was not found");
            }
        }
    }

    /// Creates posts by thirty authors and analyses the tables. The statistics must not change the plans.
    fn analysed(database: &mut Database) -> TeamId {
        let tx = &mut database.tx();
        let room = team(tx, 1);
        for n in 1..=30 {
            let author = fan(tx, n);
            if n > 1 {
                assert!(tx.insert_follow(UserId::from(uuid(1)), author, at(0)).unwrap());
            }
            for post_of in 0..20 {
                post(tx, n * 1_000 + post_of, author, None, i64::try_from(post_of).unwrap());
            }
        }
        run(tx, "ANALYZE");
        room
    }

    #[test]
    fn a_page_or_its_keys_are_one_statement_that_walks_its_index() {
        let mut database = Database::sqlite();
        let room = analysed(&mut database);
        let filters = [FeedFilter::All, FeedFilter::Team(room)];
        for (filter, index) in filters.into_iter().zip(["posts_newest ", "posts_newest_of_team "]) {
            for reader in [None, Some(UserId::from(uuid(1)))] {
                for after in [None, Some(TimeKey { at: at(0), id: uuid(1) })] {
                    let plans = plans_of(&mut database, |tx| {
                        tx.feed(filter, reader, Limit::default(), after).unwrap();
                        tx.feed_keys(filter, 26, after).unwrap();
                    });
                    let [plan, keys] = plans.as_slice() else { panic!("two statements: {plans:?}") };
                    for plan in [plan, keys] {
                        assert!(format!("{plan} ").contains(&format!("INDEX {index}")), "{plan}");
                        assert!(!plan.contains("TEMP B-TREE") && !plan.contains("BLOOM"), "{plan}");
                    }
                    assert!(!keys.contains("reactions"), "{keys}");
                    let (posts, authors) = (plan.find(" posts "), plan.find(" users "));
                    assert!(posts < authors, "{plan}");
                }
            }
        }
    }

    #[test]
    fn what_is_gathered_is_looked_up_in_indexes() {
        let mut database = Database::sqlite();
        analysed(&mut database);
        let reader = UserId::from(uuid(1));
        let plans = plans_of(&mut database, |tx| {
            tx.followed_among_newest(reader, Limit::default(), None).unwrap();
            tx.gather(Gathered::Followed, reader, Limit::default(), None).unwrap();
            tx.gather(Gathered::OwnTeams, reader, Limit::default(), None).unwrap();
        });
        let [among_newest, followed, own_teams] = plans.as_slice() else { panic!("{plans:?}") };
        assert!(among_newest.contains("SEARCH p USING INDEX posts_newest "), "{among_newest}");
        assert!(!among_newest.contains("TEMP B-TREE"), "it ends with the page: {among_newest}");
        assert!(followed.contains("SEARCH q USING INDEX posts_newest_of_author "), "{followed}");
        assert!(own_teams.contains("SEARCH q USING INDEX posts_newest_of_team "), "{own_teams}");
        for plan in plans {
            for table in ["posts", "p", "q", "users", "follows", "team_follows", "blocks"] {
                assert!(!format!("{plan} ").contains(&format!("SCAN {table} ")), "{plan}");
            }
        }
    }
}
