//! The contract under "Accounts": sessions and their tokens.

use super::accounts::{chosen, mobile, offered, pair, refresh, refusal};
use anyhow::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_testkit::app::accounts::{EndSessionRefusal, ListSessions};
use terrace_testkit::app::{AppConfig, RefreshRefusal};
use terrace_testkit::identity::{SessionKind, Token};
use terrace_testkit::kernel::{Clock, Limit, SessionId};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_refresh_token_gives_a_new_pair_each_time,
    a_refresh_token_used_twice_ends_its_family,
    one_of_twenty_concurrent_refreshes_succeeds,
    a_refresh_ends_the_previous_access_token,
    no_exchange_prolongs_a_session_past_its_absolute_end,
    sessions_and_tokens_end_on_time,
    a_session_that_was_ended_is_dead_in_every_process,
    a_cached_session_ends_in_time,
    a_look_up_does_not_outlive_the_session_that_it_found,
    sessions_are_listed_newest_first_without_those_that_ended,
}

/// POST /api/mobile-auth/refresh: a new pair each time, in one session that every exchange prolongs.
fn a_refresh_token_gives_a_new_pair_each_time(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia");
    let (mut refresh_token, access) = mobile(&service, "mia");
    let session = service.viewer(access).expect("signed in").session_id;
    let mut seen = vec![(refresh_token.clone(), access)];
    let life = service.app().config().refresh_life;
    for _ in 0..5 {
        let over = service.clock().now().plus(life);
        service.clock().set(over.minus(Duration::from_secs(1)));
        let fresh = refresh(&service, &refresh_token).expect("a live token");
        assert!(seen.iter().all(|(refresh, access)| *refresh != fresh.0 && *access != fresh.1));
        let viewer = service.viewer(fresh.1).expect("the new access token works");
        assert_eq!((viewer.user_id, viewer.session_id), (fan.id, session));
        refresh_token.clone_from(&fresh.0);
        seen.push(fresh);
    }
    assert_eq!(service.sessions_of(fan.id, SessionKind::Mobile), 1);
    for (_, access) in &seen[..5] {
        assert_eq!(service.viewer(*access), None, "old access tokens run out by themselves");
    }
    for wrong in ["", "tsr_", "tsr_AAAA", &refresh_token.replace("tsr_", "tsa_"), "Zm9v"] {
        assert_eq!(refresh(&service, wrong), Err(RefreshRefusal::InvalidToken), "{wrong:?}");
    }
    Ok(())
}

/// POST /api/mobile-auth/refresh: a token used twice ends its whole family (401 `token_reused`), whether the
/// thief or the owner used it first. Another device of the same fan stays signed in.
fn a_refresh_token_used_twice_ends_its_family(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.fan("mia");
    let (stolen, first_access) = mobile(&service, "mia");
    let (bystander, bystander_access) = mobile(&service, "mia");
    let (owners, owners_access) = refresh(&service, &stolen).expect("a live token");
    let (owners, second_access) = refresh(&service, &owners).expect("a live token");
    assert!(service.viewer(second_access).is_some());

    assert_eq!(refresh(&service, &stolen), Err(RefreshRefusal::TokenReused));
    for access in [first_access, owners_access, second_access] {
        assert_eq!(service.viewer(access), None);
    }
    assert_eq!(refresh(&service, &owners), Err(RefreshRefusal::InvalidToken));
    assert_eq!(
        refresh(&service, &stolen),
        Err(RefreshRefusal::TokenReused),
        "it stays known for a stolen one"
    );
    assert!(service.viewer(bystander_access).is_some() && refresh(&service, &bystander).is_ok());
    Ok(())
}

/// POST /api/mobile-auth/refresh, twenty times at once in two processes: one exchange succeeds, and the other
/// nineteen end the family.
fn one_of_twenty_concurrent_refreshes_succeeds(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    service.fan("mia");
    let (token, access) = mobile(&service, "mia");
    let outcomes = service.together((0..20).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let token = token.clone();
        async move { app.refresh(&token).await }
    }));
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 19));
    for outcome in lost {
        assert_eq!(refusal(outcome), Some(RefreshRefusal::TokenReused));
    }
    let (next, next_access) = won.into_iter().flatten().map(pair).next().expect("the winner");
    assert_eq!((service.viewer(access), other.viewer(next_access)), (None, None));
    assert_eq!(refresh(&other, &next), Err(RefreshRefusal::InvalidToken));
    Ok(())
}

/// "Sessions": the exchange ends the access token of the pair before, at once in the process that did the
/// exchange.
fn a_refresh_ends_the_previous_access_token(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    service.fan("mia");
    let (refresh_token, access) = mobile(&service, "mia");
    let (_, bystander) = mobile(&service, "mia");
    assert!(service.viewer(access).is_some());
    let (_, fresh) = refresh(&service, &refresh_token).expect("a live token");
    for service in [&service, &other] {
        assert_eq!(service.viewer(access), None);
        assert!(service.viewer(fresh).is_some());
        assert!(service.viewer(bystander).is_some(), "another session of the account");
    }
    Ok(())
}

/// "Sessions": no exchange prolongs a session past its absolute end.
fn no_exchange_prolongs_a_session_past_its_absolute_end(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.fan("mia");
    let config = service.app().config().clone();
    let over = service.clock().now().plus(config.session_longest);
    let (mut refresh_token, _) = mobile(&service, "mia");
    let mut exchanges = 0;
    while over.since(service.clock().now()) > config.refresh_life {
        service.clock().set(service.clock().now().plus(config.refresh_life / 2));
        (refresh_token, _) = refresh(&service, &refresh_token).expect("a live token");
        exchanges += 1;
    }
    assert!(exchanges > 3, "{exchanges}");
    service.clock().set(over.minus(Duration::from_mins(1)));
    let (refresh_token, access) = refresh(&service, &refresh_token).expect("a live token");
    service.clock().set(over.minus(Duration::from_micros(1)));
    assert!(service.viewer(access).is_some());
    service.clock().set(over);
    assert_eq!(service.viewer(access), None);
    assert_eq!(refresh(&service, &refresh_token), Err(RefreshRefusal::InvalidToken));
    Ok(())
}

/// "Sessions": cookies, access and refresh tokens each end at their exact instant, and not before.
fn sessions_and_tokens_end_on_time(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let began = service.clock().now();
    let fan = service.fan("mia");
    let (refresh_token, access) = mobile(&service, "mia");
    let config = service.app().config().clone();
    let at = |span| service.clock().set(began.plus(span));
    let just_before = |span| service.clock().set(began.plus(span).minus(Duration::from_micros(1)));

    just_before(config.access_life);
    assert!(service.viewer(access).is_some());
    at(config.access_life);
    assert_eq!(service.viewer(access), None);
    at(config.refresh_life);
    assert_eq!(refresh(&service, &refresh_token), Err(RefreshRefusal::InvalidToken));
    just_before(config.refresh_life);
    assert!(refresh(&service, &refresh_token).is_ok());
    just_before(config.session_life);
    assert!(service.viewer(fan.cookie).is_some());
    at(config.session_life);
    assert_eq!(service.viewer(fan.cookie), None);
    assert_eq!(service.sessions_of(fan.id, SessionKind::Browser), 0);
    Ok(())
}

/// POST /api/logout, without a cache of sessions: the session is dead in every process at once. One fan
/// cannot end the session of another.
fn a_session_that_was_ended_is_dead_in_every_process(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let (refresh_token, access) = mobile(&service, "mia");
    let sessions = [mia.cookie, access].map(|token| other.viewer(token).expect("signed in").session_id);
    for session in sessions {
        assert_eq!(service.end_session(bo.id, session), Err(EndSessionRefusal::NotFound));
        assert_eq!(service.end_session(mia.id, session), Ok(()));
        assert_eq!(service.end_session(mia.id, session), Err(EndSessionRefusal::NotFound));
    }
    assert_eq!((other.viewer(mia.cookie), other.viewer(access)), (None, None));
    assert_eq!(refresh(&other, &refresh_token), Err(RefreshRefusal::InvalidToken));
    assert!(other.viewer(bo.cookie).is_some());
    Ok(())
}

/// POST /api/logout, PUT /api/user/password, POST /api/mobile-auth/refresh, with a cache of sessions: the
/// process that ended the session sees it at once, every other one within a second.
fn a_cached_session_ends_in_time(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::adjusted(kind, |_, app| app.session_memory = AppConfig::default().session_memory)?;
    let other = service.another()?;
    let fan = service.fan("mia");
    let viewer = service.viewer(fan.cookie).expect("signed in");
    for way in ["logout", "reuse", "password"] {
        let (refresh_token, mut token) = mobile(&service, "mia");
        if way == "reuse" {
            token = refresh(&service, &refresh_token).expect("a live token").1;
        }
        let session = session_of(&service, token);
        assert_eq!(session_of(&other, token), session);
        if way == "logout" {
            assert_eq!(service.end_session(fan.id, session), Ok(()));
        } else if way == "reuse" {
            assert_eq!(refresh(&service, &refresh_token), Err(RefreshRefusal::TokenReused));
        } else {
            let changed = service.app().change_password(&viewer, offered(PASSWORD), chosen("new password"));
            assert_eq!(refusal(service.run(changed)), None);
        }
        let ended = Instant::now();
        assert_eq!(service.viewer(token), None, "{way}");
        loop {
            let asked = ended.elapsed();
            if other.viewer(token).is_none() {
                break;
            }
            assert!(asked < Duration::from_secs(1), "{way}: a session outlives its end");
        }
    }
    assert!(service.viewer(fan.cookie).is_some() && other.viewer(fan.cookie).is_some());
    Ok(())
}

/// A look-up that was under way while the session ended leaves no cached session behind.
fn a_look_up_does_not_outlive_the_session_that_it_found(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::adjusted(kind, |_, app| app.session_memory = Duration::from_hours(1))?;
    let fan = service.fan("mia");
    for round in 0..15 {
        let token = mobile(&service, "mia").1;
        let now = service.clock().now();
        // Bypasses the cache, which must not contain it yet.
        let session = service.ask(move |tx| tx.viewer(&token, now)).expect("signed in").session_id;
        let looking: Vec<_> = (0..8)
            .map(|_| {
                let app = Arc::clone(service.app());
                service.spawn(async move { app.viewer(token).await })
            })
            .collect();
        assert_eq!(service.end_session(fan.id, session), Ok(()));
        for looking in looking {
            assert!(service.join(looking).is_ok());
        }
        assert_eq!(service.viewer(token), None, "round {round}");
    }
    Ok(())
}

/// GET /api/user/sessions: the fan's own live devices, newest first, in pages that neither repeat nor skip,
/// though all were opened at one instant.
fn sessions_are_listed_newest_first_without_those_that_ended(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia");
    service.fan("bo_");
    let mut expected = vec![(service.clock().now(), session_of(&service, fan.cookie))];
    for n in 0..20 {
        if n % 7 == 0 {
            service.clock().advance(Duration::from_secs(1));
        }
        let session = session_of(&service, mobile(&service, "mia").1);
        if n % 5 == 0 {
            assert_eq!(service.end_session(fan.id, session), Ok(()));
        } else {
            expected.push((service.clock().now(), session));
        }
    }
    expected.sort();
    expected.reverse();
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let limit = Limit::new(4)?;
        let page = service.found(ListSessions { user: fan.id, limit, after });
        assert!(page.items.len() == 4 || page.next.is_none());
        listed.extend(page.items.iter().map(|session| (session.created_at, session.id)));
        match page.next {
            Some(key) => after = Some(key),
            None => break,
        }
    }
    assert_eq!(listed, expected);
    Ok(())
}

fn session_of(service: &TestApp, token: Token) -> SessionId {
    service.viewer(token).expect("signed in").session_id
}
