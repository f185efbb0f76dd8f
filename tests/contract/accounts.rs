//! The contract under "Accounts": names, passwords, sessions and their tokens.

use super::repairs::{damage, repair_counts};
use anyhow::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_testkit::app::accounts::{EndSessionRefusal, ListSessions};
use terrace_testkit::app::{
    AppConfig, ChangePasswordRefusal, Grant, LoginRefusal, RefreshRefusal, RegisterRefusal, SignedUp,
};
use terrace_testkit::identity::{Password, SessionKind, Token, TokenKind};
use terrace_testkit::kernel::{Clock, Failure, Limit, Outcome, Position, SessionId};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database, registration};

on_each_database! {
    a_name_is_one_name_after_nfkc_and_case_folding,
    one_of_fifty_concurrent_registrations_of_a_name_succeeds,
    one_of_fifty_concurrent_look_alikes_is_registered,
    a_missing_skeleton_goes_to_the_earliest_look_alike,
    reserved_names_are_taken,
    only_the_right_password_signs_in,
    a_changed_password_ends_the_other_sessions,
    no_session_on_an_old_password_outlives_its_change,
    one_of_two_concurrent_password_changes_succeeds,
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

fn offered(password: &str) -> Password {
    Password::offer(password.to_owned())
}

fn chosen(password: &str) -> Password {
    Password::choose(password.to_owned()).expect("a password")
}

fn cookie(signed_up: &SignedUp) -> Token {
    let Grant::Cookie(secret) = &signed_up.grant else { panic!("a browser gets a cookie") };
    Token::present(TokenKind::Cookie, secret.expose()).expect("a cookie is a token")
}

/// The secret of a refresh token, and the access token issued with it.
fn pair(signed_up: SignedUp) -> (String, Token) {
    let Grant::Bearer { access, refresh } = signed_up.grant else { panic!("a native client gets a pair") };
    let access = Token::present(TokenKind::Access, access.expose()).expect("an access token is a token");
    (refresh.expose().to_owned(), access)
}

fn refusal<T, R>(outcome: Outcome<T, R>) -> Option<R> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

pub(super) fn mobile(service: &TestApp, name: &str) -> (String, Token) {
    let signed_up = service.run(service.app().mobile_login(name, offered(PASSWORD), None));
    pair(signed_up.expect("the right password"))
}

pub(super) fn refresh(service: &TestApp, token: &str) -> Result<(String, Token), RefreshRefusal> {
    match service.run(service.app().refresh(token)) {
        Ok(signed_up) => Ok(pair(signed_up)),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// POST /api/register: unique after NFKC and case folding. The name keeps the spelling it was registered
/// with, and any spelling of it signs in.
fn a_name_is_one_name_after_nfkc_and_case_folding(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("Straße.Nº1");
    assert_eq!(fan.card.username, "Straße.No1");
    for same in ["straße.no1", "STRASSE.NO1", "Ｓtraße.Nº1", "strasse.№1"] {
        let again = service.run(service.app().register(registration(same, PASSWORD), None));
        assert_eq!(refusal(again), Some(RegisterRefusal::UsernameTaken), "{same}");
        let signed_in = service.run(service.app().login(same, offered(PASSWORD)));
        assert_eq!(signed_in.expect("the same name").profile.account.card, fan.card, "{same}");
    }
    service.fan("strase.no1");
    Ok(())
}

/// POST /api/register, fifty requests at once in two processes.
fn one_of_fifty_concurrent_registrations_of_a_name_succeeds(kind: DatabaseKind) -> Result<()> {
    let first = TestApp::start(kind)?;
    let services = [first.another()?, first];
    let spellings = ["Ultra", "ULTRA", "ultra", "Ｕltra", "ᵘltra"];
    let outcomes = services[0].together((0..50).map(|n| {
        let app = Arc::clone(services[n % 2].app());
        let wanted = registration(spellings[n % spellings.len()], PASSWORD);
        async move { app.register(wanted, None).await }
    }));
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for outcome in lost {
        assert_eq!(refusal(outcome), Some(RegisterRefusal::UsernameTaken));
    }
    let winner = &won[0].as_ref().expect("the winner").profile.account.card;
    let found = services[1].run(services[1].app().login("ultra", offered(PASSWORD))).expect("the winner");
    assert_eq!(found.profile.account.card, *winner);
    // The refused requests leave nothing: no session, and no event.
    assert_eq!(services[0].sessions_of(winner.id, SessionKind::Browser), 2);
    assert_eq!(services[0].log(Position::START).len(), 1);
    Ok(())
}

/// POST /api/register, fifty requests at once in two processes: names with one skeleton (UTS 39) are one
/// name.
fn one_of_fifty_concurrent_look_alikes_is_registered(kind: DatabaseKind) -> Result<()> {
    let first = TestApp::start(kind)?;
    let services = [first.another()?, first];
    let look_alikes = ["pace", "\u{440}ace", "p\u{430}ce", "pa\u{441}e", "\u{440}\u{430}\u{441}\u{435}"];
    let outcomes = services[0].together((0..50).map(|n| {
        let app = Arc::clone(services[n % 2].app());
        let wanted = registration(look_alikes[n % look_alikes.len()], PASSWORD);
        async move { app.register(wanted, None).await }
    }));
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for outcome in lost {
        assert_eq!(refusal(outcome), Some(RegisterRefusal::UsernameTaken));
    }
    assert_eq!(services[0].log(Position::START).len(), 1);
    Ok(())
}

/// The task fills in missing skeletons. An account whose skeleton an earlier account already has stays
/// without one.
fn a_missing_skeleton_goes_to_the_earliest_look_alike(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let forget = || damage(&service, &["UPDATE users SET name_skeleton = NULL"]);
    service.fan("pace");
    forget();
    service.fan("p\u{430}ce");
    forget();
    assert_eq!(repair_counts(&service, "backfill-name-skeletons"), [("name skeletons", 1)]);
    let names =
        service.storage().read_by_hand("SELECT username AS text FROM users WHERE name_skeleton = 'pace'")?;
    assert_eq!(names, ["pace"]);
    let again = service.run(service.app().register(registration("\u{440}ace", PASSWORD), None));
    assert_eq!(refusal(again), Some(RegisterRefusal::UsernameTaken));
    Ok(())
}

/// POST /api/register: names that claim to speak for the service, and their look-alikes, are refused as
/// taken.
fn reserved_names_are_taken(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    for name in ["Admin", "support", "he1p", "\u{430}dmin"] {
        let refused = service.run(service.app().register(registration(name, PASSWORD), None));
        assert_eq!(refusal(refused), Some(RegisterRefusal::UsernameTaken), "{name}");
    }
    service.fan("admins");
    Ok(())
}

/// POST /api/login: 401 with the same text for a wrong password and an unknown name, whatever was typed.
fn only_the_right_password_signs_in(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia");
    let long = "x".repeat(5000);
    for (name, password) in [
        ("mia", "Up the terrace"),
        ("mia", ""),
        ("mia", long.as_str()),
        ("nobody", PASSWORD),
        ("", PASSWORD),
        ("mia\0", PASSWORD),
        (long.as_str(), PASSWORD),
    ] {
        let browser = service.run(service.app().login(name, offered(password)));
        assert_eq!(refusal(browser), Some(LoginRefusal::InvalidCredentials), "{name:?} {password:?}");
        let mobile = service.run(service.app().mobile_login(name, offered(password), None));
        assert_eq!(refusal(mobile), Some(LoginRefusal::InvalidCredentials), "{name:?} {password:?}");
    }
    assert_eq!(service.sessions_of(fan.id, SessionKind::Browser), 1);
    let signed_in = service.run(service.app().login("mia", offered(PASSWORD))).expect("the right password");
    let viewer = service.viewer(cookie(&signed_in)).expect("a live session");
    assert_eq!(viewer.user_id, fan.id);
    Ok(())
}

/// PUT /api/user/password: other sessions end, of both kinds and in both processes. The session that asks
/// stays.
fn a_changed_password_ends_the_other_sessions(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia");
    let browser = service.run(service.app().login("mia", offered(PASSWORD))).expect("signed in");
    let (refresh_token, access) = mobile(&other, "mia");
    let viewer = service.viewer(fan.cookie).expect("signed in");

    let wrong =
        service.run(service.app().change_password(&viewer, offered("a guess"), chosen("new password")));
    assert_eq!(refusal(wrong), Some(ChangePasswordRefusal::WrongPassword));
    assert!(other.viewer(access).is_some(), "a wrong guess ends nothing");

    let changed =
        service.run(service.app().change_password(&viewer, offered(PASSWORD), chosen("new password")));
    assert_eq!(refusal(changed), None);
    assert_eq!(other.viewer(fan.cookie).map(|viewer| viewer.session_id), Some(viewer.session_id));
    assert_eq!((other.viewer(cookie(&browser)), other.viewer(access)), (None, None));
    assert_eq!(refresh(&other, &refresh_token), Err(RefreshRefusal::InvalidToken));
    let old = other.run(other.app().login("mia", offered(PASSWORD)));
    assert_eq!(refusal(old), Some(LoginRefusal::InvalidCredentials));
    assert_eq!(refusal(other.run(other.app().login("mia", offered("new password")))), None);
    Ok(())
}

/// PUT /api/user/password and POST /api/login at once: a login with the old password either comes before the
/// change, which ends its session, or is refused.
fn no_session_on_an_old_password_outlives_its_change(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (mut before, mut after) = (0, 0);
    for round in 0..12 {
        let name = format!("fan{round}");
        let fan = service.fan(&name);
        let viewer = service.viewer(fan.cookie).expect("signed in");
        let change = {
            let app = Arc::clone(service.app());
            service.spawn(async move {
                app.change_password(&viewer, offered(PASSWORD), chosen("new password")).await
            })
        };
        let logins = other.together((0..8).map(|_| {
            let (app, name) = (Arc::clone(other.app()), name.clone());
            async move { app.login(&name, offered(PASSWORD)).await }
        }));
        assert_eq!(refusal(service.join(change)), None);
        for login in logins {
            match login {
                Ok(signed_in) => {
                    before += 1;
                    assert_eq!(service.viewer(cookie(&signed_in)), None, "a session on the old password");
                }
                Err(Failure::Refused(refusal)) => {
                    after += 1;
                    assert_eq!(refusal, LoginRefusal::InvalidCredentials);
                }
                Err(Failure::Broken(error)) => panic!("{error}"),
            }
        }
        assert!(service.viewer(fan.cookie).is_some(), "the session that asked stays");
        assert_eq!(service.sessions_of(fan.id, SessionKind::Browser), 1);
    }
    assert_eq!(before + after, 12 * 8);
    Ok(())
}

/// PUT /api/user/password, from two devices at once: by then the second request proves a password that is no
/// longer valid.
fn one_of_two_concurrent_password_changes_succeeds(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia");
    let second = cookie(&service.run(service.app().login("mia", offered(PASSWORD))).expect("signed in"));
    let viewers = [fan.cookie, second].map(|token| service.viewer(token).expect("signed in"));
    let outcomes = service.together(viewers.into_iter().zip(["first password", "second password"]).map(
        |(viewer, new)| {
            let app = Arc::clone(service.app());
            async move { app.change_password(&viewer, offered(PASSWORD), chosen(new)).await.is_ok() }
        },
    ));
    assert_eq!(outcomes.iter().filter(|done| **done).count(), 1);
    let alive = viewers.map(|viewer| viewer.session_id);
    let still = [fan.cookie, second].map(|token| service.viewer(token).map(|viewer| viewer.session_id));
    let expected = [0, 1].map(|n| outcomes[n].then_some(alive[n]));
    assert_eq!(still, expected, "who changed it stays, the other is out");
    Ok(())
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
