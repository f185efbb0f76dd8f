//! The contract under "Accounts", `DELETE /api/user`: what is removed at once, what is removed afterwards,
//! and what stays.

use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use terrace_testkit::app::accounts::{ChangeProfile, GetOwnProfile, GetPublicProfile, NotFound};
use terrace_testkit::app::room::{
    CreateComment, CreateCommentRefusal, CreatePost, CreatePostRefusal, FeedScope, GetComment, GetPost,
    ListComments, React, ReactRefusal, ReadFeed, ReportPost,
};
use terrace_testkit::app::store::{IdempotencyScope, KeyPlace, StoredAnswer};
use terrace_testkit::app::{
    DeleteAccountRefusal, Grant, KeyedRequest, LoginRefusal, RefreshRefusal, RegisterRefusal, SignedUp,
};
use terrace_testkit::identity::{AccountStatus, Password, ProfileChange, Role, TimeZone, Token, TokenKind};
use terrace_testkit::kernel::{EventKind, Failure, Limit, Outcome, PostId, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::{NewComment, ReactionCounts, ReactionKind};
use terrace_testkit::{DatabaseKind, Fan, PASSWORD, TestApp, on_each_database, registration};

on_each_database! {
    a_deletion_is_visible_at_once_and_leaves_nothing,
    a_busy_account_is_removed_in_batches_and_counters_stay_exact,
    writes_during_the_deletion_of_their_account_leave_nothing,
    no_session_outlives_its_account,
    one_of_two_concurrent_deletions_succeeds,
    only_the_right_password_deletes,
    a_name_cannot_be_registered_again,
    a_post_of_a_deleted_account_takes_no_writes,
}

fn offered(password: &str) -> Password {
    Password::offer(password.to_owned())
}

fn refusal<T, R>(outcome: Outcome<T, R>) -> Option<R> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

pub(super) fn delete(service: &TestApp, token: Token, password: &str) -> Option<DeleteAccountRefusal> {
    let viewer = service.viewer(token).expect("signed in");
    refusal(service.run(service.app().delete_account(&viewer, offered(password))))
}

/// Runs the consumers on all deletions: of accounts, then of the posts that are removed with them.
pub(super) fn catch_up(service: &TestApp) {
    for _ in 0..2 {
        service.settled();
        service.run(service.app().catch_up_consumers()).expect("working consumers");
    }
}

fn post(service: &TestApp, author: UserId, body: &str) -> PostId {
    service.done(CreatePost { author, team: None, media: None, body: body.to_owned() }).post.id
}

fn comment(author: UserId, post: PostId) -> CreateComment {
    CreateComment { author, post, body: "And the rebound!".to_owned() }
}

fn react(fan: UserId, post: PostId) -> React {
    React { fan, post, kind: Some(ReactionKind::Clap) }
}

fn feed(service: &TestApp) -> Vec<PostId> {
    let all = ReadFeed { scope: FeedScope::All, reader: None, limit: Limit::default(), after: None };
    service.found(all).page.items.iter().map(|view| view.post.id).collect()
}

fn commenters(service: &TestApp, post: PostId) -> Vec<UserId> {
    let list = ListComments { post, reader: None, limit: Limit::default(), after: None };
    service.found(list).items.iter().map(|comment| comment.author.id).collect()
}

fn assert_counters_fit(service: &TestApp) {
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// How many rows of each kind are stored for an account, visible or not.
fn rows_of(service: &TestApp, user: UserId) -> [usize; 6] {
    const ALL: u32 = 100_000;
    service.ask(move |tx| {
        Ok([
            tx.posts_of(user, ALL, None)?.len(),
            tx.comments_of(user, ALL, None)?.len(),
            tx.reactions_of(user, ALL, None)?.len(),
            tx.reports_of(user, ALL, None)?.len(),
            tx.kept_sessions_of(user, ALL, None)?.len(),
            tx.keys_of(user, ALL, None)?.len(),
        ])
    })
}

fn keyed(route: &'static str, account: Option<UserId>) -> KeyedRequest {
    let scope = IdempotencyScope { account, operation: route };
    KeyedRequest { scope, key: "first".to_owned(), fingerprint: [7; 32] }
}

fn mobile(service: &TestApp, name: &str) -> (String, Token) {
    let signed_in =
        service.run(service.app().mobile_login(name, offered(PASSWORD), None)).expect("signed in");
    let Grant::Bearer { access, refresh } = signed_in.grant else { panic!("a native client gets a pair") };
    (refresh.expose().to_owned(), Token::present(TokenKind::Access, access.expose()).expect("a token"))
}

fn cookie(signed_up: &SignedUp) -> Token {
    let Grant::Cookie(secret) = &signed_up.grant else { panic!("a browser gets a cookie") };
    Token::present(TokenKind::Cookie, secret.expose()).expect("a token")
}

/// An account registered with an idempotency key, with a profile, two devices, and some content of every
/// kind.
fn with_a_history(service: &TestApp, bo: &Fan, of_bo: PostId) -> (UserId, Token, Token, String, PostId) {
    let wanted = service
        .run(service.app().register(registration("Mia", PASSWORD), Some(keyed("POST /api/register", None))));
    let signed_up = wanted.expect("a new name");
    let (mia, browser) = (signed_up.profile.account.card.id, cookie(&signed_up));
    let (refresh, access) = mobile(service, "mia");
    let change = ProfileChange {
        display_name: Some("Mia Carter".to_owned()),
        bio: Some("North bank, row 14.".to_owned()),
        time_zone: "Europe/Lisbon".parse().ok(),
        favorite_team: Some(Some(service.team("foxes"))),
        leaderboard_visible: None,
        collection_visible: None,
    };
    service.done(ChangeProfile { user: mia, change });
    let hers = CreatePost { author: mia, team: None, media: None, body: "What a save!".to_owned() };
    let render = |_: &_| StoredAnswer { created: None, body: "{}".to_owned() };
    let key = keyed("POST /api/locker-room", Some(mia));
    service.run(service.app().execute_once(hers, Some(key), render)).expect("a post");
    let of_mia = *feed(service).iter().find(|post| **post != of_bo).expect("her post");
    service.done(comment(mia, of_bo));
    service.done(comment(mia, of_bo));
    service.done(comment(bo.id, of_bo));
    service.done(comment(bo.id, of_mia));
    service.done(react(mia, of_bo));
    service.done(react(bo.id, of_bo));
    service.done(react(bo.id, of_mia));
    service.done(ReportPost { fan: mia, post: of_bo, reason: "It is an advertisement.".to_owned() });
    (mia, browser, access, refresh, of_mia)
}

/// From the answer on no process shows anything of the account; afterwards only the anonymous account is
/// stored; the content of others stays and is counted correctly; and the log lists what was removed.
fn a_deletion_is_visible_at_once_and_leaves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let bo = service.fan("bo_");
    let of_bo = post(&service, bo.id, "Kick-off");
    let (mia, browser, access, refresh, of_mia) = with_a_history(&service, &bo, of_bo);
    assert_eq!(rows_of(&service, mia), [1, 2, 1, 1, 2, 2]);
    let before = service.settled();

    assert_eq!(delete(&service, browser, PASSWORD), None);
    for service in [&service, &other] {
        assert_eq!(feed(service), [of_bo]);
        assert_eq!(service.not_found(GetPost { post: of_mia, reader: Some(bo.id) }), NotFound);
        assert_eq!(commenters(service, of_bo), [bo.id]);
        assert_eq!(service.not_found(GetPublicProfile { user: mia, reader: None }), NotFound);
        assert_eq!(service.not_found(GetOwnProfile { user: mia }), NotFound);
        assert_eq!([browser, access].map(|token| service.viewer(token)), [None, None]);
        let refreshed = service.run(service.app().refresh(&refresh));
        assert_eq!(refusal(refreshed), Some(RefreshRefusal::InvalidToken));
        let login = service.run(service.app().login("mia", offered(PASSWORD)));
        assert_eq!(refusal(login), Some(LoginRefusal::InvalidCredentials));
        assert_counters_fit(service);
    }
    assert_eq!(rows_of(&service, mia)[4..], [0, 0], "sessions and stored answers went with it");
    let account = service.ask(move |tx| tx.account(mia)).expect("an anonymous account");
    assert!(account.card.username.starts_with("deleted-"), "{}", account.card.username);
    assert_eq!(account.card.display_name, account.card.username);
    assert_eq!((account.bio.as_str(), account.card.picture, account.favorite_team), ("", None, None));
    assert_eq!((account.time_zone, account.role), (TimeZone::UTC, Role::Fan));
    let is_shown = account.leaderboard_visible || account.collection_visible;
    assert_eq!((account.status, is_shown), (AccountStatus::Deleted, false));

    catch_up(&service);
    assert_eq!(rows_of(&service, mia), [0; 6]);
    assert!(service.write(move |tx, _| Ok(tx.remove_deleted_post(of_mia, 1)?)), "the post itself is gone");
    let left = service.found(GetPost { post: of_bo, reader: Some(bo.id) });
    assert_eq!((left.post.comment_count, left.post.reactions.total()), (1, 1));
    assert_eq!(left.my_reaction, Some(ReactionKind::Clap));
    assert_eq!(
        rows_of(&service, bo.id),
        [1, 1, 1, 0, 1, 0],
        "of another's nothing went but what hung on her post"
    );
    assert_counters_fit(&service);

    let mut published: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for event in service.log(before) {
        assert_eq!(event.what.actor, Some(mia));
        published.entry(event.what.kind.as_str()).or_default().push(event.what.subject);
    }
    let (bos, mias) = (of_bo.as_uuid(), of_mia.as_uuid());
    let expected = [
        (EventKind::AccountDeleted, vec![mia.as_uuid()]),
        (EventKind::CommentDeleted, vec![bos, bos]),
        (EventKind::PostDeleted, vec![mias]),
        (EventKind::ReactionChanged, vec![bos]),
    ];
    assert_eq!(published, expected.map(|(kind, subjects)| (kind.as_str(), subjects)).into());
    Ok(())
}

/// 1,500 comments on one post and 600 reactions are removed while others read: at no moment is a counter
/// wrong, and at no moment is any of them visible.
fn a_busy_account_is_removed_in_batches_and_counters_stay_exact(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let (busy, quiet) = (mia.id, bo.id);
    let of_bo = post(&service, bo.id, "Kick-off");
    service.write(move |tx, ctx| {
        for n in 0..1500 {
            let (id, created_at) = (ctx.new_id(), ctx.now());
            tx.count_comment(of_bo, busy)?;
            tx.insert_comment(&NewComment {
                id,
                post: of_bo,
                author: busy,
                reply_to: None,
                body: format!("{n}"),
                created_at,
            })?;
        }
        Ok(())
    });
    service.write(move |tx, ctx| {
        for n in 0..600 {
            let post = terrace_testkit::social::NewPost {
                id: ctx.new_id(),
                author: if n % 2 == 0 { busy } else { quiet },
                team: None,
                body: format!("{n}"),
                image: None,
                created_at: ctx.now(),
            };
            tx.insert_post(&post)?;
            assert!(tx.set_reaction(post.id, busy, Some(ReactionKind::Fire), ctx.now())?);
            tx.add_to_reaction_counts(post.id, &ReactionCounts { fire: 1, ..ReactionCounts::default() })?;
        }
        Ok(())
    });
    service.done(comment(bo.id, of_bo));
    assert_counters_fit(&service);
    assert_eq!(delete(&service, mia.cookie, PASSWORD), None);
    service.settled();

    let removal = {
        let app = Arc::clone(service.app());
        service.spawn(async move { app.catch_up_consumers().await })
    };
    let mut looks = 0;
    while !removal.is_finished() || looks == 0 {
        looks += 1;
        assert_counters_fit(&service);
        assert_eq!(commenters(&service, of_bo), [bo.id]);
    }
    service.join(removal)?;
    catch_up(&service);
    assert_eq!(rows_of(&service, mia.id), [0; 6]);
    assert_eq!(rows_of(&service, bo.id)[0], 301);
    assert_eq!(service.found(GetPost { post: of_bo, reader: None }).post.comment_count, 1);
    let fires =
        service.ask(move |tx| tx.posts_of(quiet, 1000, None)).iter().map(|p| p.reactions.fire).sum::<i64>();
    assert_eq!(fires, 0);
    assert_counters_fit(&service);
    Ok(())
}

/// Writes under the account in another process, whose session was checked a moment before, either commit
/// before the deletion and are removed with the rest, or are refused.
fn writes_during_the_deletion_of_their_account_leave_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let bo = service.fan("bo_");
    let of_bo = post(&service, bo.id, "Kick-off");
    let own: Vec<PostId> = (0..4).map(|n| post(&service, bo.id, &format!("{n}"))).collect();
    let mut refused = 0;
    for round in 0..6 {
        let mia = service.fan(&format!("mia{round}"));
        let id = mia.id;
        let viewer = service.viewer(mia.cookie).expect("signed in");
        let deletion = {
            let app = Arc::clone(service.app());
            service.spawn(async move { app.delete_account(&viewer, offered(PASSWORD)).await })
        };
        let outcomes = other.together(own.iter().map(|post| {
            let (app, post) = (Arc::clone(other.app()), *post);
            async move {
                let wrote = CreatePost { author: id, team: None, media: None, body: "Wait!".to_owned() };
                let wrote = app.execute(wrote).await.map(drop);
                let commented = app.execute(comment(id, of_bo)).await.map(drop);
                let reacted = app.execute(react(id, post)).await.map(drop);
                let report = ReportPost { fan: id, post, reason: "Spam".to_owned() };
                (wrote, commented, reacted, app.execute(report).await)
            }
        }));
        assert_eq!(refusal(service.join(deletion)), None);
        for (wrote, commented, reacted, reported) in outcomes {
            let mut gone = false;
            for (refusal, expected) in [
                (refusal(wrote).map(|no| no == CreatePostRefusal::NotActive), true),
                (refusal(commented).map(|no| no == CreateCommentRefusal::NotActive), true),
                (refusal(reacted).map(|no| no == ReactRefusal::NotActive), true),
            ] {
                refused += usize::from(refusal.is_some());
                assert!(refusal.is_none_or(|as_expected| as_expected == expected));
                assert!(!gone || refusal.is_some(), "an account does not come back");
                gone = refusal.is_some();
            }
            assert!(refusal(reported).is_none());
        }
        // The deletion is over: everything is refused now.
        assert_eq!(other.refused(comment(id, of_bo)), CreateCommentRefusal::NotActive);
        assert_eq!(other.refused(react(id, of_bo)), ReactRefusal::NotActive);
        catch_up(&service);
        assert_eq!(rows_of(&service, id), [0; 6], "round {round}");
        assert_counters_fit(&service);
    }
    let left = service.found(GetPost { post: of_bo, reader: None }).post;
    assert_eq!((left.comment_count, left.reactions.total()), (0, 0));
    assert!(refused <= 6 * 12);
    Ok(())
}

/// Logins and refreshes that race with the deletion are refused, or their sessions are removed with it.
fn no_session_outlives_its_account(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    for round in 0..6 {
        let name = format!("mia{round}");
        let mia = service.fan(&name);
        let viewer = service.viewer(mia.cookie).expect("signed in");
        let refreshes: Vec<_> = (0..3).map(|_| mobile(&service, &name).0).collect();
        let deletion = {
            let app = Arc::clone(service.app());
            service.spawn(async move { app.delete_account(&viewer, offered(PASSWORD)).await })
        };
        let outcomes = other.together(refreshes.into_iter().map(|refresh| {
            let (app, name) = (Arc::clone(other.app()), name.clone());
            async move { (app.refresh(&refresh).await, app.login(&name, offered(PASSWORD)).await) }
        }));
        assert_eq!(refusal(service.join(deletion)), None);
        for (refreshed, login) in outcomes {
            if let Ok(signed_in) = &login {
                assert_eq!(service.viewer(cookie(signed_in)), None);
            } else {
                assert_eq!(refusal(login), Some(LoginRefusal::InvalidCredentials));
            }
            match refreshed {
                Ok(SignedUp { grant: Grant::Bearer { refresh, access }, .. }) => {
                    let again = service.run(service.app().refresh(refresh.expose()));
                    assert_eq!(refusal(again), Some(RefreshRefusal::InvalidToken));
                    let access = Token::present(TokenKind::Access, access.expose()).expect("a token");
                    assert_eq!(service.viewer(access), None);
                }
                Ok(_) => panic!("a native client gets a pair"),
                Err(_) => assert_eq!(refusal(refreshed), Some(RefreshRefusal::InvalidToken)),
            }
        }
        catch_up(&service);
        assert_eq!(rows_of(&service, mia.id), [0; 6]);
    }
    Ok(())
}

fn one_of_two_concurrent_deletions_succeeds(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    for round in 0..4 {
        let mia = service.fan(&format!("mia{round}"));
        let viewer = service.viewer(mia.cookie).expect("signed in");
        let outcomes = service.together([&service, &other].map(|service| {
            let app = Arc::clone(service.app());
            async move { app.delete_account(&viewer, offered(PASSWORD)).await }
        }));
        let mut refusals: Vec<_> = outcomes.into_iter().map(refusal).collect();
        refusals.sort_by_key(Option::is_some);
        assert_eq!(refusals, [None, Some(DeleteAccountRefusal::NotActive)]);
        let again = service.run(service.app().delete_account(&viewer, offered(PASSWORD)));
        assert_eq!(refusal(again), Some(DeleteAccountRefusal::NotActive));
        let events = service.log(terrace_testkit::kernel::Position::START);
        let deletions = events.iter().filter(|event| {
            event.what.kind == EventKind::AccountDeleted && event.what.subject == mia.id.as_uuid()
        });
        assert_eq!(deletions.count(), 1);
    }
    Ok(())
}

fn only_the_right_password_deletes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    let kept = post(&service, mia.id, "Still here");
    let long = "x".repeat(5000);
    for wrong in ["", "Up the terrace", &long] {
        assert_eq!(
            delete(&service, mia.cookie, wrong),
            Some(DeleteAccountRefusal::WrongPassword),
            "{wrong:?}"
        );
    }
    assert_eq!(feed(&service), [kept]);
    assert!(service.viewer(mia.cookie).is_some());
    assert_eq!(rows_of(&service, mia.id), [1, 0, 0, 0, 1, 0]);
    Ok(())
}

/// The name is refused in every spelling; and the registration's own idempotency key does not bring the
/// account back.
fn a_name_cannot_be_registered_again(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let key = || Some(keyed("POST /api/register", None));
    let signed_up =
        service.run(service.app().register(registration("Straße", PASSWORD), key())).expect("new");
    let mia = signed_up.profile.account.card.id;
    let place = service.ask(move |tx| tx.keys_of(mia, 10, None)).remove(0).place;
    assert_eq!((place.operation(), place.key.as_str()), ("POST /api/register", "first"));
    assert_eq!(delete(&service, cookie(&signed_up), PASSWORD), None);
    assert!(service.ask(move |tx| tx.keys_of(mia, 10, None::<&KeyPlace>)).is_empty());
    let again = service.run(service.app().register(registration("Straße", PASSWORD), key()));
    assert_eq!(refusal(again), Some(RegisterRefusal::UsernameTaken));
    catch_up(&service);
    for same in ["Straße", "straße", "STRASSE", "Ｓtraße", "Str\u{430}ße"] {
        let again = service.run(service.app().register(registration(same, PASSWORD), None));
        assert_eq!(refusal(again), Some(RegisterRefusal::UsernameTaken), "{same}");
    }
    Ok(())
}

/// Between the deletion and the removal of the post no fan can write on it: it is hidden from all.
fn a_post_of_a_deleted_account_takes_no_writes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let of_mia = post(&service, mia.id, "What a save!");
    let said = service.done(comment(bo.id, of_mia)).comment.id;
    assert_eq!(delete(&service, mia.cookie, PASSWORD), None);
    assert_eq!(service.refused(comment(bo.id, of_mia)), CreateCommentRefusal::PostNotFound);
    assert_eq!(service.refused(react(bo.id, of_mia)), ReactRefusal::PostNotFound);
    let report = ReportPost { fan: bo.id, post: of_mia, reason: "Spam".to_owned() };
    service.refused(report);
    assert_eq!(service.not_found(GetComment { post: of_mia, comment: said, reader: None }), NotFound);
    Ok(())
}
