//! The contract under "Accounts", `terrace account …`: what operators do, as the use cases below the program.

use anyhow::Result;
use terrace_testkit::app::accounts::{ChangeProfile, GetPublicProfile, NotFound, Operated, UnknownAccount};
use terrace_testkit::app::platform::Verify;
use terrace_testkit::app::room::{
    CreateComment, CreatePost, CreatePostRefusal, GetPost, ListComments, React, ReactRefusal,
};
use terrace_testkit::app::{DeleteAccountRefusal, Grant, LoginRefusal, RefreshRefusal, ResetPasswordRefusal};
use terrace_testkit::identity::{Password, ProfileChange, Role, SessionKind};
use terrace_testkit::kernel::{EventKind, Failure, Limit, Outcome, PostId, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_suspended_account_is_out_everywhere_and_unseen_until_it_is_restored,
    a_reset_password_is_the_only_one_and_ends_every_session,
    a_role_is_given_and_taken,
    a_name_that_nobody_has_changes_nothing,
}

fn offered(password: &str) -> Password {
    Password::offer(password.to_owned())
}

fn done<T, R: std::fmt::Debug>(outcome: Outcome<T, R>) -> T {
    outcome.unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn refusal<T, R>(outcome: Outcome<T, R>) -> Option<R> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

fn login(house: &TestApp, password: &str) -> Option<LoginRefusal> {
    refusal(house.run(house.app().login("mia", offered(password))))
}

fn comments(house: &TestApp, post: PostId) -> usize {
    let list = ListComments { post, reader: None, limit: Limit::default(), after: None };
    house.found(list).items.len()
}

fn operated(user: UserId, changed: bool, sessions_ended: u64) -> Operated {
    Operated { user, changed, sessions_ended }
}

fn a_suspended_account_is_out_everywhere_and_unseen_until_it_is_restored(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let other = house.another()?;
    let (mia, bo) = (house.fan("Mia"), house.fan("bo_"));
    let hers = house
        .done(CreatePost { author: mia.id, team: None, media: None, body: "What a save!".to_owned() })
        .post
        .id;
    let his = house
        .done(CreatePost { author: bo.id, team: None, media: None, body: "Kick-off".to_owned() })
        .post
        .id;
    house.done(CreateComment { author: mia.id, post: his, body: "At last".to_owned() });
    let phone = done(house.run(house.app().mobile_login("mia", offered(PASSWORD), None)));
    let Grant::Bearer { refresh, .. } = phone.grant else { panic!("a native client gets a pair") };
    let viewer = house.viewer(mia.cookie).expect("signed in");
    let before = house.settled();

    assert_eq!(done(house.run(house.app().suspend_account("MIA"))), operated(mia.id, true, 2));
    assert_eq!(done(other.run(other.app().suspend_account("mia"))), operated(mia.id, false, 0));
    for house in [&house, &other] {
        assert_eq!(house.viewer(mia.cookie), None);
        let refreshed = house.run(house.app().refresh(refresh.expose()));
        assert_eq!(refusal(refreshed), Some(RefreshRefusal::InvalidToken));
        assert_eq!(
            login(house, PASSWORD),
            Some(LoginRefusal::Suspended),
            "only who knows the password is told"
        );
        assert_eq!(login(house, "a guess"), Some(LoginRefusal::InvalidCredentials));
        assert_eq!(house.not_found(GetPost { post: hers, reader: None }), NotFound);
        assert_eq!(house.not_found(GetPublicProfile { user: mia.id, reader: None }), NotFound);
        assert_eq!(comments(house, his), 0);
        // Whoever was let in a moment before does nothing either.
        let post = CreatePost { author: mia.id, team: None, media: None, body: "Me again".to_owned() };
        assert_eq!(house.refused(post), CreatePostRefusal::NotActive);
        let reaction = React { fan: mia.id, post: his, kind: Some(ReactionKind::Like) };
        assert_eq!(house.refused(reaction), ReactRefusal::NotActive);
        let change = ProfileChange { bio: Some("!".to_owned()), ..ProfileChange::default() };
        house.refused(ChangeProfile { user: mia.id, change });
        let deletion = house.run(house.app().delete_account(&viewer, offered(PASSWORD)));
        assert_eq!(refusal(deletion), Some(DeleteAccountRefusal::NotActive));
    }
    assert!(house.found(Verify).iter().all(|check| check.wrong == 0));

    assert_eq!(done(house.run(house.app().restore_account("mia"))), operated(mia.id, true, 0));
    assert_eq!(done(house.run(house.app().restore_account("mia"))), operated(mia.id, false, 0));
    assert_eq!(
        house.found(GetPost { post: hers, reader: None }).author,
        mia.card,
        "nothing of it was touched"
    );
    assert_eq!(comments(&house, his), 1);
    assert_eq!(house.viewer(mia.cookie), None, "sessions do not come back");
    assert_eq!(login(&house, PASSWORD), None);

    let kinds: Vec<_> =
        house.log(before).into_iter().map(|event| (event.what.kind, event.what.subject)).collect();
    let account = mia.id.as_uuid();
    assert_eq!(kinds, [(EventKind::AccountSuspended, account), (EventKind::AccountRestored, account)]);
    Ok(())
}

fn a_reset_password_is_the_only_one_and_ends_every_session(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let mia = house.fan("mia");
    let chosen = Password::choose("chosen by the club".to_owned())?;
    let (outcome, drawn) = done(house.run(house.app().reset_password("mia", Some(chosen))));
    assert_eq!((outcome, drawn.is_none()), (operated(mia.id, true, 1), true));
    assert_eq!(house.viewer(mia.cookie), None);
    assert_eq!(login(&house, PASSWORD), Some(LoginRefusal::InvalidCredentials));
    assert_eq!(login(&house, "chosen by the club"), None);

    let (outcome, drawn) = done(house.run(house.app().reset_password("Mia", None)));
    assert_eq!(outcome.sessions_ended, 1);
    let drawn = drawn.expect("it is shown once");
    assert_eq!(login(&house, "chosen by the club"), Some(LoginRefusal::InvalidCredentials));
    assert_eq!(login(&house, drawn.expose()), None);
    assert_eq!(house.sessions_of(mia.id, SessionKind::Browser), 1);

    // A reset lets nobody in who was put aside.
    done(house.run(house.app().suspend_account("mia")));
    let (_, drawn) = done(house.run(house.app().reset_password("mia", None)));
    assert_eq!(login(&house, drawn.expect("another").expose()), Some(LoginRefusal::Suspended));
    Ok(())
}

fn a_role_is_given_and_taken(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let mia = house.fan("mia");
    for role in [Role::TeamManager, Role::SuperAdmin, Role::Admin, Role::Fan] {
        assert_eq!(done(house.run(house.app().grant_role("mia", role))), operated(mia.id, true, 0));
        assert_eq!(house.viewer(mia.cookie).map(|viewer| viewer.role), Some(role));
    }
    Ok(())
}

fn a_name_that_nobody_has_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let house = TestApp::start(kind)?;
    let gone = house.fan("gone");
    let viewer = house.viewer(gone.cookie).expect("signed in");
    done(house.run(house.app().delete_account(&viewer, offered(PASSWORD))));
    let before = house.settled();
    let long = "x".repeat(5000);
    for name in ["nobody", "gone", "", "mia\0", &long] {
        let app = house.app();
        let all = [
            refusal(house.run(app.suspend_account(name))),
            refusal(house.run(app.restore_account(name))),
            refusal(house.run(app.grant_role(name, Role::SuperAdmin))),
        ];
        assert_eq!(all, [Some(UnknownAccount); 3], "{name:?}");
        let reset = refusal(house.run(app.reset_password(name, None)));
        assert_eq!(reset, Some(ResetPasswordRefusal::UnknownAccount), "{name:?}");
    }
    assert!(house.log(before).is_empty());
    Ok(())
}
