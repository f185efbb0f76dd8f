use super::*;
use crate::harness::{Database, DatabaseKind, at, fan, new_account, on_each_database, run, team, uuid};
use terrace_store::FollowImportWrite;

on_each_database! {
    a_name_is_given_out_once_whatever_its_case,
    a_look_alike_of_a_name_is_refused,
    the_earliest_of_look_alikes_gets_a_missing_skeleton,
    a_change_leaves_alone_what_it_does_not_name,
    only_active_accounts_are_shown_and_changed,
    a_password_is_replaced_only_where_it_was_not_meanwhile,
    a_closed_account_is_blank_and_its_name_stays_taken,
    a_status_changes_from_what_it_is,
    a_value_that_was_never_written_is_named,
}

fn a_name_is_given_out_once_whatever_its_case(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    assert!(!terrace_store::Audit::any_account(tx).unwrap());
    let first = new_account(1, "Zé.Povo");
    assert!(tx.insert_account(&first).unwrap());
    assert!(!tx.insert_account(&new_account(2, "ZÉ.povo")).unwrap());
    assert_eq!(tx.account(UserId::from(uuid(2))).unwrap(), None);
    assert_eq!(tx.credentials_of(UserId::from(uuid(2))).unwrap(), None);
    assert!(terrace_store::Audit::any_account(tx).unwrap());

    let account = tx.account(first.id).unwrap().unwrap();
    assert_eq!((account.card.username.as_str(), account.role), ("Zé.Povo", Role::Fan));
    assert_eq!((account.status, account.created_at), (AccountStatus::Active, at(0)));
    assert!(account.leaderboard_visible);
}

fn a_look_alike_of_a_name_is_refused(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let names = ["mia1", "paypal", "\u{441}\u{430}\u{434}"];
    for (id, name) in (1..).zip(names) {
        assert!(tx.insert_account(&new_account(id, name)).unwrap(), "{name}");
    }
    for name in ["m\u{456}\u{430}1", "P\u{430}yp\u{430}l", "c\u{430}\u{434}"] {
        assert!(!tx.insert_account(&new_account(9, name)).unwrap(), "{name}");
        assert_eq!(tx.insert_accounts(&[new_account(9, name)]).unwrap(), []);
    }
    assert!(tx.insert_account(&new_account(9, "mial")).unwrap(), "ASCII names stay apart");
    assert!(tx.close_account(UserId::from(uuid(1)), "deleted-1", at(2)).unwrap());
    assert!(!tx.insert_account(&new_account(10, "m\u{456}\u{430}1")).unwrap());
}

fn the_earliest_of_look_alikes_gets_a_missing_skeleton(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let [first, second] = [1, 2].map(|id| UserId::from(uuid(id)));
    assert!(tx.insert_account(&new_account(1, "mia")).unwrap());
    run(tx, "UPDATE users SET name_skeleton = NULL");
    assert!(tx.insert_account(&new_account(2, "mi\u{430}")).unwrap());
    run(tx, "UPDATE users SET name_skeleton = NULL");
    let missing = [(first, "mia".to_owned()), (second, "mi\u{430}".to_owned())];
    assert_eq!(tx.names_without_skeleton(None, 9).unwrap(), missing);
    assert_eq!(tx.names_without_skeleton(None, 1).unwrap(), missing[..1]);
    assert!(tx.set_name_skeleton(first, "mia").unwrap());
    assert!(!tx.set_name_skeleton(first, "mia").unwrap());
    assert!(!tx.set_name_skeleton(second, "mia").unwrap());
    assert_eq!(tx.names_without_skeleton(None, 9).unwrap(), missing[1..]);
    assert_eq!(tx.names_without_skeleton(Some(second), 9).unwrap(), []);
}

fn a_change_leaves_alone_what_it_does_not_name(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let (ana, red) = (fan(tx, 1), team(tx, 1));
    let change = ProfileChange {
        bio: Some("Since 1904".to_owned()),
        time_zone: "Europe/Lisbon".parse().ok(),
        favorite_team: Some(Some(red)),
        leaderboard_visible: Some(false),
        ..ProfileChange::default()
    };
    assert!(tx.change_profile(ana, &change, at(1)).unwrap());
    assert!(tx.change_profile(ana, &ProfileChange::default(), at(2)).unwrap());
    let account = tx.account(ana).unwrap().unwrap();
    assert_eq!((account.card.display_name.as_str(), account.bio.as_str()), ("Fan 1", "Since 1904"));
    assert_eq!((account.time_zone.name(), account.favorite_team), ("Europe/Lisbon", Some(red)));
    assert!(!account.leaderboard_visible);

    let teamless = ProfileChange { favorite_team: Some(None), ..ProfileChange::default() };
    assert!(tx.change_profile(ana, &teamless, at(3)).unwrap());
    assert_eq!(tx.public_profile(ana).unwrap().map(|profile| profile.favorite_team), Some(None));
    let picture = MediaHash::from_bytes([7; 32]);
    assert!(tx.set_picture(ana, Some(picture), at(4)).unwrap());
    assert_eq!(tx.public_profile(ana).unwrap().and_then(|profile| profile.card.picture), Some(picture));
    assert!(tx.set_picture(ana, None, at(5)).unwrap());
    assert_eq!(tx.account(ana).unwrap().unwrap().card.picture, None);
}

fn only_active_accounts_are_shown_and_changed(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    run(tx, "UPDATE users SET status = 'suspended'");
    assert_eq!(tx.public_profile(ana).unwrap(), None);
    assert!(!tx.change_profile(ana, &ProfileChange::default(), at(1)).unwrap());
    assert!(!tx.set_picture(ana, None, at(1)).unwrap());
    let found = tx.credentials_by_key("fan1").unwrap().map(|credentials| credentials.status);
    assert_eq!(found, Some(AccountStatus::Suspended));
    run(tx, "UPDATE users SET status = 'deleted'");
    assert_eq!(tx.credentials_by_key("fan1").unwrap(), None);
    assert_eq!(tx.account(ana).unwrap().map(|account| account.status), Some(AccountStatus::Deleted));
    assert!(!tx.insert_account(&new_account(2, "fan1")).unwrap(), "the name cannot be registered again");
}

fn a_password_is_replaced_only_where_it_was_not_meanwhile(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    let [old, new, other] = ["hash 1", "new", "other"].map(|phc| PasswordHash::from_phc(phc.to_owned()));
    assert!(tx.replace_password(ana, &old, &new, at(1)).unwrap());
    assert!(!tx.replace_password(ana, &old, &other, at(1)).unwrap());
    let expected = Credentials { user_id: ana, password: new, status: AccountStatus::Active };
    assert_eq!(tx.credentials_of(ana).unwrap(), Some(expected.clone()));
    assert_eq!(tx.lock_credentials(ana).unwrap(), Some(expected));
    assert_eq!(tx.lock_credentials(UserId::from(uuid(9))).unwrap(), None);
}

fn a_closed_account_is_blank_and_its_name_stays_taken(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let (ana, red) = (fan(tx, 1), team(tx, 1));
    let change = ProfileChange {
        bio: Some("Since 1904".to_owned()),
        time_zone: "Europe/Lisbon".parse().ok(),
        favorite_team: Some(Some(red)),
        ..ProfileChange::default()
    };
    assert!(tx.change_profile(ana, &change, at(1)).unwrap());
    assert!(tx.set_picture(ana, Some(MediaHash::from_bytes([7; 32])), at(1)).unwrap());
    assert!(tx.set_role(ana, Role::Admin, at(1)).unwrap());
    assert!(tx.close_account(ana, "deleted-1", at(2)).unwrap());
    assert!(!tx.close_account(ana, "deleted-1", at(2)).unwrap());
    let account = tx.account(ana).unwrap().unwrap();
    let shown = "deleted-1".to_owned();
    let card = AuthorCard { id: ana, username: shown.clone(), display_name: shown, picture: None };
    assert_eq!((account.card, account.bio.as_str(), account.favorite_team), (card, "", None));
    assert_eq!((account.time_zone, account.role), (TimeZone::UTC, Role::Fan));
    assert_eq!((account.status, account.leaderboard_visible), (AccountStatus::Deleted, false));
    assert_eq!(tx.credentials_of(ana).unwrap(), None);
    assert_eq!(tx.lock_credentials(ana).unwrap(), None);
    assert!(!tx.insert_account(&new_account(2, "FAN1")).unwrap());
    assert!(!tx.set_role(ana, Role::Admin, at(3)).unwrap());
    assert!(!tx.set_status(ana, AccountStatus::Suspended, AccountStatus::Active, at(3)).unwrap());
}

fn a_status_changes_from_what_it_is(kind: DatabaseKind) {
    use AccountStatus::{Active, Suspended};
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    assert!(tx.set_status(ana, Active, Suspended, at(1)).unwrap());
    assert!(!tx.set_status(ana, Active, Suspended, at(1)).unwrap());
    assert!(!tx.close_account(ana, "deleted-1", at(1)).unwrap(), "an operator decides");
    assert!(tx.set_role(ana, Role::TeamManager, at(1)).unwrap());
    assert!(tx.set_status(ana, Suspended, Active, at(2)).unwrap());
    assert_eq!(tx.account(ana).unwrap().map(|account| account.role), Some(Role::TeamManager));
}

fn a_value_that_was_never_written_is_named(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    run(tx, "UPDATE users SET time_zone = 'Mars/Olympus_Mons'");
    let error = tx.account(ana).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { table: "users", column: "time_zone", .. }), "{error}");
}
