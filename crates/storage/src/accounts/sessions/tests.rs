use super::*;
use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, run, uuid};
use terrace_identity::{NewSession, SessionKind, SessionWrite};

on_each_database! {
    a_token_proves_its_owner_only_while_everything_holds,
    sessions_end_once_and_only_their_owners,
    a_touch_prolongs_only_on_request_and_restores_nothing_that_ended,
    a_refresh_token_has_its_whole_state,
    ended_sessions_go_in_bounded_portions,
    an_accounts_sessions_are_listed_ended_or_not_and_removed_in_portions,
}

fn token(kind: TokenKind, n: u8) -> Token {
    Token { kind, hash: TokenHash::from_bytes([n; 32]) }
}

/// A session that is opened at `created` and expires at 1000.
fn open(tx: &mut DieselTx<'_>, n: u128, user: UserId, created: i64) -> SessionId {
    let session = NewSession {
        id: SessionId::from(uuid(n)),
        user_id: user,
        kind: SessionKind::Mobile,
        device_name: None,
        created_at: at(created),
        expires_at: at(1000),
    };
    tx.insert_session(&session).unwrap();
    session.id
}

fn live_sessions(tx: &mut DieselTx<'_>, user: UserId, now: i64) -> Vec<u128> {
    let page = tx.sessions_of(user, at(now), Limit::default(), None).unwrap();
    page.items.iter().map(|device| device.id.as_uuid().as_u128()).collect()
}

fn a_token_proves_its_owner_only_while_everything_holds(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let session = open(tx, 1, ana, 0);
    let (access, long) = (token(TokenKind::Access, 1), token(TokenKind::Access, 2));
    tx.insert_token(session, &access, at(100)).unwrap();
    tx.insert_token(session, &long, at(5000)).unwrap();

    let viewer = tx.viewer(&access, at(99)).unwrap().unwrap();
    assert_eq!((viewer.user_id, viewer.session_id, viewer.last_seen_at), (ana, session, at(0)));
    assert_eq!(tx.viewer(&token(TokenKind::Access, 9), at(1)).unwrap(), None, "unknown");
    assert_eq!(tx.viewer(&token(TokenKind::Cookie, 1), at(1)).unwrap(), None, "of another kind");
    assert_eq!(tx.viewer(&access, at(100)).unwrap(), None, "the token is over");
    assert!(tx.viewer(&long, at(999)).unwrap().is_some());
    assert_eq!(tx.viewer(&long, at(1000)).unwrap(), None, "the session is over");
    for status in ["suspended", "deleted"] {
        run(tx, &format!("UPDATE users SET status = '{status}'"));
        assert_eq!(tx.viewer(&access, at(1)).unwrap(), None, "{status}");
    }
    run(tx, "UPDATE users SET status = 'active'");
    assert!(tx.viewer(&access, at(1)).unwrap().is_some());
    assert!(tx.end_session(ana, session, at(50)).unwrap());
    assert_eq!(tx.viewer(&access, at(51)).unwrap(), None, "the session was ended");
}

fn sessions_end_once_and_only_their_owners(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let (ana, bea) = (fan(tx, 1), fan(tx, 2));
    let [first, second, third] = [(1, 5), (2, 5), (3, 4)].map(|(n, created)| open(tx, n, ana, created));
    open(tx, 9, bea, 5);
    assert_eq!(live_sessions(tx, ana, 10), [2, 1, 3]);
    let page = tx.sessions_of(ana, at(10), Limit::new(1).unwrap(), None).unwrap();
    let rest = tx.sessions_of(ana, at(10), Limit::default(), page.next).unwrap();
    assert_eq!(rest.items.iter().map(|device| device.id).collect::<Vec<_>>(), [first, third]);

    assert!(!tx.end_session(bea, first, at(11)).unwrap());
    assert!(tx.end_session(ana, first, at(11)).unwrap());
    assert!(!tx.end_session(ana, first, at(12)).unwrap());
    assert_eq!(tx.end_other_sessions(ana, Some(second), at(13)).unwrap(), 1);
    assert_eq!(live_sessions(tx, ana, 14), [2]);
    assert_eq!(tx.end_other_sessions(ana, None, at(15)).unwrap(), 1);
    assert_eq!(live_sessions(tx, bea, 16), [9]);
    assert_eq!(live_sessions(tx, bea, 1000), [0; 0]);
}

fn a_touch_prolongs_only_on_request_and_restores_nothing_that_ended(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let session = open(tx, 1, ana, 0);
    let mut seen = |at_micros, until: Option<i64>| {
        tx.touch_session(session, at(at_micros), until.map(at)).unwrap();
        let page = tx.sessions_of(ana, at(900), Limit::default(), None).unwrap();
        page.items.first().map(|device| (device.last_seen_at, device.expires_at))
    };
    assert_eq!(seen(10, None), Some((at(10), at(1000))));
    assert_eq!(seen(20, Some(2000)), Some((at(20), at(2000))));
    assert!(tx.end_session(ana, session, at(30)).unwrap());
    tx.touch_session(session, at(40), Some(at(3000))).unwrap();
    assert_eq!(live_sessions(tx, ana, 50), [0; 0]);
}

fn a_refresh_token_has_its_whole_state(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let session = open(tx, 1, ana, 0);
    let (refresh, access) = (token(TokenKind::Refresh, 1), token(TokenKind::Access, 2));
    tx.insert_token(session, &refresh, at(500)).unwrap();
    tx.insert_token(session, &access, at(500)).unwrap();
    assert_eq!(tx.lock_refresh_token(&access.hash).unwrap(), None);
    let fresh = StoredRefresh {
        session_id: session,
        user_id: ana,
        opened_at: at(0),
        used: false,
        expires_at: at(500),
        session_ended: false,
        account: AccountStatus::Active,
    };
    assert_eq!(tx.lock_refresh_token(&refresh.hash).unwrap(), Some(fresh));
    tx.mark_refresh_used(&refresh.hash, at(1)).unwrap();
    assert!(tx.end_session(ana, session, at(2)).unwrap());
    run(tx, "UPDATE users SET status = 'suspended'");
    let spent = StoredRefresh { used: true, session_ended: true, account: AccountStatus::Suspended, ..fresh };
    assert_eq!(tx.lock_refresh_token(&refresh.hash).unwrap(), Some(spent));
}

fn ended_sessions_go_in_bounded_portions(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let (ended, kept) = (open(tx, 1, ana, 0), open(tx, 2, ana, 0));
    for n in 1..=4 {
        tx.insert_token(ended, &token(TokenKind::Refresh, n), at(900)).unwrap();
    }
    tx.insert_token(kept, &token(TokenKind::Access, 5), at(20)).unwrap();
    tx.insert_token(kept, &token(TokenKind::Refresh, 6), at(900)).unwrap();
    assert!(tx.end_session(ana, ended, at(50)).unwrap());
    assert_eq!(tx.remove_ended_sessions(at(20), 100).unwrap(), 0);
    // The expired token; the four tokens of the ended session; that session.
    assert_eq!([3, 3, 3].map(|limit| tx.remove_ended_sessions(at(60), limit).unwrap()), [3, 3, 0]);
    assert!(tx.viewer(&token(TokenKind::Access, 5), at(10)).unwrap().is_none());
    assert!(tx.lock_refresh_token(&token(TokenKind::Refresh, 6).hash).unwrap().is_some());
    assert_eq!(live_sessions(tx, ana, 10), [2]);
    assert_eq!(
        tx.remove_ended_sessions(at(2000), 100).unwrap(),
        2,
        "sessions that were never ended are over too"
    );
}

fn an_accounts_sessions_are_listed_ended_or_not_and_removed_in_portions(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let (ana, bea) = (fan(tx, 1), fan(tx, 2));
    let of_bea = open(tx, 9, bea, 0);
    for n in 1..=3 {
        let session = open(tx, n, ana, 5);
        tx.insert_token(session, &token(TokenKind::Access, u8::try_from(n).unwrap()), at(100)).unwrap();
    }
    assert!(tx.end_session(ana, SessionId::from(uuid(2)), at(7)).unwrap());
    let first = tx.kept_sessions_of(ana, 2, None).unwrap();
    let rest = tx.kept_sessions_of(ana, 2, first.last().map(KeptSession::key)).unwrap();
    let seen = |kept: &KeptSession| (kept.session.id.as_uuid().as_u128(), kept.ended_at);
    assert_eq!(first.iter().map(seen).collect::<Vec<_>>(), [(3, None), (2, Some(at(7)))]);
    assert_eq!(rest.iter().map(seen).collect::<Vec<_>>(), [(1, None)]);

    assert_eq!([(); 4].map(|()| tx.remove_sessions_of(ana, 2).unwrap()), [2, 2, 2, 0]);
    assert!(tx.end_session(bea, of_bea, at(8)).unwrap(), "another's stay");
}
