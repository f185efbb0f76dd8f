//! The contract under "Accounts", `terrace account …`: actions of operators, as the use cases below the
//! program.

use anyhow::Result;
use terrace_testkit::app::accounts::{ChangeProfile, GetPublicProfile, NotFound, Operated, UnknownAccount};
use terrace_testkit::app::room::{
    CreateComment, CreatePost, CreatePostRefusal, GetPost, ListComments, React, ReactRefusal,
};
use terrace_testkit::app::{DeleteAccountRefusal, Grant, LoginRefusal, RefreshRefusal, ResetPasswordRefusal};
use terrace_testkit::identity::{Password, ProfileChange, Role, SessionKind};
use terrace_testkit::kernel::{EventKind, Failure, Limit, Outcome, PostId, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_suspended_account_is_signed_out_and_hidden_until_it_is_restored,
    a_reset_password_is_the_only_one_and_ends_every_session,
    a_role_is_granted_and_revoked,
    an_unknown_name_changes_nothing,
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

fn login(service: &TestApp, password: &str) -> Option<LoginRefusal> {
    refusal(service.run(service.app().login("mia", offered(password))))
}

fn comments(service: &TestApp, post: PostId) -> usize {
    let list = ListComments { post, reader: None, limit: Limit::default(), after: None };
    service.found(list).items.len()
}

fn operated(user: UserId, changed: bool, sessions_ended: u64) -> Operated {
    Operated { user, changed, sessions_ended }
}

fn a_suspended_account_is_signed_out_and_hidden_until_it_is_restored(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (mia, bo) = (service.fan("Mia"), service.fan("bo_"));
    let hers = service
        .done(CreatePost { author: mia.id, team: None, media: None, body: "What a save!".to_owned() })
        .post
        .id;
    let his = service
        .done(CreatePost { author: bo.id, team: None, media: None, body: "Kick-off".to_owned() })
        .post
        .id;
    service.done(CreateComment { author: mia.id, post: his, body: "At last".to_owned() });
    let phone = done(service.run(service.app().mobile_login("mia", offered(PASSWORD), None)));
    let Grant::Bearer { refresh, .. } = phone.grant else { panic!("a native client gets a pair") };
    let viewer = service.viewer(mia.cookie).expect("signed in");
    let before = service.settled();

    assert_eq!(done(service.run(service.app().suspend_account("MIA"))), operated(mia.id, true, 2));
    assert_eq!(done(other.run(other.app().suspend_account("mia"))), operated(mia.id, false, 0));
    for service in [&service, &other] {
        assert_eq!(service.viewer(mia.cookie), None);
        let refreshed = service.run(service.app().refresh(refresh.expose()));
        assert_eq!(refusal(refreshed), Some(RefreshRefusal::InvalidToken));
        assert_eq!(
            login(service, PASSWORD),
            Some(LoginRefusal::Suspended),
            "only the right password reveals it"
        );
        assert_eq!(login(service, "a guess"), Some(LoginRefusal::InvalidCredentials));
        assert_eq!(service.not_found(GetPost { post: hers, reader: None }), NotFound);
        assert_eq!(service.not_found(GetPublicProfile { user: mia.id, reader: None }), NotFound);
        assert_eq!(comments(service, his), 0);
        // A caller whose session was checked a moment before cannot write either.
        let post = CreatePost { author: mia.id, team: None, media: None, body: "Me again".to_owned() };
        assert_eq!(service.refused(post), CreatePostRefusal::NotActive);
        let reaction = React { fan: mia.id, post: his, kind: Some(ReactionKind::Like) };
        assert_eq!(service.refused(reaction), ReactRefusal::NotActive);
        let change = ProfileChange { bio: Some("!".to_owned()), ..ProfileChange::default() };
        service.refused(ChangeProfile { user: mia.id, change });
        let deletion = service.run(service.app().delete_account(&viewer, offered(PASSWORD)));
        assert_eq!(refusal(deletion), Some(DeleteAccountRefusal::NotActive));
    }
    assert!(service.found(Verify).iter().all(|check| check.wrong == 0));

    assert_eq!(done(service.run(service.app().restore_account("mia"))), operated(mia.id, true, 0));
    assert_eq!(done(service.run(service.app().restore_account("mia"))), operated(mia.id, false, 0));
    assert_eq!(
        service.found(GetPost { post: hers, reader: None }).author,
        mia.card,
        "nothing of it was touched"
    );
    assert_eq!(comments(&service, his), 1);
    assert_eq!(service.viewer(mia.cookie), None, "sessions do not come back");
    assert_eq!(login(&service, PASSWORD), None);

    let kinds: Vec<_> =
        service.log(before).into_iter().map(|event| (event.what.kind, event.what.subject)).collect();
    let account = mia.id.as_uuid();
    assert_eq!(kinds, [(EventKind::AccountSuspended, account), (EventKind::AccountRestored, account)]);
    Ok(())
}

fn a_reset_password_is_the_only_one_and_ends_every_session(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    let chosen = Password::choose("chosen by the club".to_owned())?;
    let (outcome, drawn) = done(service.run(service.app().reset_password("mia", Some(chosen))));
    assert_eq!((outcome, drawn.is_none()), (operated(mia.id, true, 1), true));
    assert_eq!(service.viewer(mia.cookie), None);
    assert_eq!(login(&service, PASSWORD), Some(LoginRefusal::InvalidCredentials));
    assert_eq!(login(&service, "chosen by the club"), None);

    let (outcome, drawn) = done(service.run(service.app().reset_password("Mia", None)));
    assert_eq!(outcome.sessions_ended, 1);
    let drawn = drawn.expect("it is shown once");
    assert_eq!(login(&service, "chosen by the club"), Some(LoginRefusal::InvalidCredentials));
    assert_eq!(login(&service, drawn.expose()), None);
    assert_eq!(service.sessions_of(mia.id, SessionKind::Browser), 1);

    // A reset does not lift a suspension.
    done(service.run(service.app().suspend_account("mia")));
    let (_, drawn) = done(service.run(service.app().reset_password("mia", None)));
    assert_eq!(login(&service, drawn.expect("another").expose()), Some(LoginRefusal::Suspended));
    Ok(())
}

fn a_role_is_granted_and_revoked(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    for role in [Role::TeamManager, Role::SuperAdmin, Role::Admin, Role::Fan] {
        assert_eq!(done(service.run(service.app().grant_role("mia", role))), operated(mia.id, true, 0));
        assert_eq!(service.viewer(mia.cookie).map(|viewer| viewer.role), Some(role));
    }
    Ok(())
}

fn an_unknown_name_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let gone = service.fan("gone");
    let viewer = service.viewer(gone.cookie).expect("signed in");
    done(service.run(service.app().delete_account(&viewer, offered(PASSWORD))));
    let before = service.settled();
    let long = "x".repeat(5000);
    for name in ["nobody", "gone", "", "mia\0", &long] {
        let app = service.app();
        let all = [
            refusal(service.run(app.suspend_account(name))),
            refusal(service.run(app.restore_account(name))),
            refusal(service.run(app.grant_role(name, Role::SuperAdmin))),
        ];
        assert_eq!(all, [Some(UnknownAccount); 3], "{name:?}");
        let reset = refusal(service.run(app.reset_password(name, None)));
        assert_eq!(reset, Some(ResetPasswordRefusal::UnknownAccount), "{name:?}");
    }
    assert!(service.log(before).is_empty());
    Ok(())
}
