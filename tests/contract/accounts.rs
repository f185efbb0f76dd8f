//! The contract under "Accounts": names and passwords.

use super::repairs::{damage, repair_counts};
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::{
    ChangePasswordRefusal, Grant, LoginRefusal, RefreshRefusal, RegisterRefusal, SignedUp,
};
use terrace_testkit::identity::{Password, SessionKind, Token, TokenKind};
use terrace_testkit::kernel::{Failure, Outcome, Position};
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
}

pub(super) fn offered(password: &str) -> Password {
    Password::offer(password.to_owned())
}

pub(super) fn chosen(password: &str) -> Password {
    Password::choose(password.to_owned()).expect("a password")
}

fn cookie(signed_up: &SignedUp) -> Token {
    let Grant::Cookie(secret) = &signed_up.grant else { panic!("a browser gets a cookie") };
    Token::present(TokenKind::Cookie, secret.expose()).expect("a cookie is a token")
}

/// The secret of a refresh token, and the access token issued with it.
pub(super) fn pair(signed_up: SignedUp) -> (String, Token) {
    let Grant::Bearer { access, refresh } = signed_up.grant else { panic!("a native client gets a pair") };
    let access = Token::present(TokenKind::Access, access.expose()).expect("an access token is a token");
    (refresh.expose().to_owned(), access)
}

pub(super) fn refusal<T, R>(outcome: Outcome<T, R>) -> Option<R> {
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
