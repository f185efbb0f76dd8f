//! Contract part 2 §4, reports of the minter: a collectible carries the token that was minted for it, in whatever order and how
//! often reports arrive.

use super::minting::{opened, rich};
use super::packs::shop;
use super::repairs::{damage, repair_counts};
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::minting::{MintReport, ReportTaken};
use terrace_testkit::app::packs::ListOwned;
use terrace_testkit::kernel::{Limit, UserId, Uuid};
use terrace_testkit::packs::{MintedToken, Owned, OwnedFilter, OwnedId, ReportStatus};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_4_a_minted_collectible_carries_its_token,
    spec_4_reports_at_once_and_in_any_order_count_once,
    spec_4_a_report_that_fits_nothing_is_kept_and_moves_nothing,
    spec_4_a_lost_token_is_found_and_restored_from_the_reports,
}

fn token(id: &str) -> MintedToken {
    MintedToken::new("polygon", "0xab", id, "0x01").expect("a token")
}

fn report(event: &str, owned: OwnedId, status: ReportStatus, token: Option<MintedToken>) -> MintReport {
    MintReport { event_id: event.to_owned(), owned, status, token }
}

fn take(service: &TestApp, report: MintReport) -> ReportTaken {
    service.run(service.app().take_mint_report(report)).expect("a working store")
}

fn owned(service: &TestApp, user: UserId) -> Vec<Owned> {
    let list = ListOwned { user, filter: OwnedFilter::default(), limit: Limit::MAX, after: None };
    service.found(list).items
}

fn token_of(service: &TestApp, user: UserId, id: OwnedId) -> Option<MintedToken> {
    owned(service, user).into_iter().find(|owned| owned.id == id).expect("a collectible").token
}

fn stored(service: &TestApp) -> Vec<String> {
    let rows = "SELECT event_id || ' ' || outcome AS text FROM mint_reports ORDER BY event_id";
    service.storage().read_by_hand(rows).expect("rows")
}

fn spec_4_a_minted_collectible_carries_its_token(kind: DatabaseKind) -> Result<()> {
    use ReportStatus::{Burned, Failed, Minted};
    let service = shop(kind)?;
    let mia = rich(&service, "mia");
    let (_, drawn) = opened(&service, mia);
    let id = drawn[0].id;
    assert!(owned(&service, mia).iter().all(|owned| owned.token.is_none()));
    assert_eq!(take(&service, report("e0", id, Failed, None)), ReportTaken::Nothing);
    let minted = report("e1", id, Minted, Some(token("7")));
    assert_eq!(take(&service, minted.clone()), ReportTaken::Applied);
    assert_eq!(take(&service, minted.clone()), ReportTaken::Before);
    assert_eq!(take(&service, MintReport { event_id: "e2".to_owned(), ..minted }), ReportTaken::Nothing);
    assert_eq!(token_of(&service, mia, id), Some(token("7")));
    assert_eq!(owned(&service, mia).iter().filter(|owned| owned.token.is_some()).count(), 1);
    assert_eq!(take(&service, report("e3", id, Burned, Some(token("7")))), ReportTaken::Applied);
    assert_eq!(token_of(&service, mia, id), None);
    // The fan still owns it, and a token that is burned does not come back.
    assert_eq!(take(&service, report("e4", id, Minted, Some(token("7")))), ReportTaken::Nothing);
    assert_eq!(token_of(&service, mia, id), None);
    assert_eq!(stored(&service), ["e0 nothing", "e1 applied", "e2 nothing", "e3 applied", "e4 nothing"]);
    Ok(())
}

fn spec_4_reports_at_once_and_in_any_order_count_once(kind: DatabaseKind) -> Result<()> {
    use ReportStatus::{Burned, Failed, Minted};
    let service = shop(kind)?;
    let other = service.another()?;
    let mia = rich(&service, "mia");
    let (_, drawn) = opened(&service, mia);
    let ids: Vec<_> = drawn.iter().map(|owned| owned.id).collect();
    let mut reports = Vec::new();
    for (nth, id) in ids.iter().enumerate() {
        let token = token(&nth.to_string());
        let mut of_copy = vec![
            report(&format!("{nth}/failed"), *id, Failed, None),
            report(&format!("{nth}/minted"), *id, Minted, Some(token.clone())),
        ];
        if nth == 0 {
            of_copy.push(report("0/burned", *id, Burned, Some(token)));
        }
        // Each order of them occurs, and each comes several times.
        for turn in 0..4 {
            of_copy.rotate_left(turn % 3);
            reports.extend(of_copy.clone());
        }
    }
    let works = reports.into_iter().enumerate().map(|(n, report)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { app.take_mint_report(report).await }
    });
    let outcomes: Vec<_> =
        service.together(works).into_iter().map(|taken| taken.expect("a working store")).collect();
    assert!(!outcomes.contains(&ReportTaken::Mismatch), "{outcomes:?}");
    assert_eq!(token_of(&service, mia, ids[0]), None);
    for (nth, id) in ids.iter().enumerate().skip(1) {
        assert_eq!(token_of(&service, mia, *id), Some(token(&nth.to_string())));
    }
    assert_eq!(stored(&service).len(), ids.len() * 2 + 1);
    Ok(())
}

fn spec_4_a_report_that_fits_nothing_is_kept_and_moves_nothing(kind: DatabaseKind) -> Result<()> {
    use ReportStatus::{Burned, Minted};
    let service = shop(kind)?;
    let mia = rich(&service, "mia");
    let (_, drawn) = opened(&service, mia);
    let id = drawn[0].id;
    let unknown = OwnedId::from_uuid(Uuid::from_u128(1));
    assert_eq!(take(&service, report("e1", unknown, Minted, Some(token("7")))), ReportTaken::Mismatch);
    assert_eq!(take(&service, report("e2", id, Minted, Some(token("7")))), ReportTaken::Applied);
    // Another token of the same copy, and the same event with other content.
    assert_eq!(take(&service, report("e3", id, Minted, Some(token("8")))), ReportTaken::Mismatch);
    assert_eq!(take(&service, report("e4", id, Burned, Some(token("8")))), ReportTaken::Mismatch);
    assert_eq!(take(&service, report("e2", id, Minted, Some(token("9")))), ReportTaken::Mismatch);
    assert_eq!(take(&service, report("e2", id, Burned, None)), ReportTaken::Mismatch);
    assert_eq!(token_of(&service, mia, id), Some(token("7")));
    assert_eq!(stored(&service), ["e1 mismatch", "e2 applied", "e3 mismatch", "e4 mismatch"]);
    Ok(())
}

fn spec_4_a_lost_token_is_found_and_restored_from_the_reports(kind: DatabaseKind) -> Result<()> {
    use ReportStatus::{Burned, Minted};
    let service = shop(kind)?;
    let mia = rich(&service, "mia");
    let (_, drawn) = opened(&service, mia);
    let [one, two] = [drawn[0].id, drawn[1].id];
    take(&service, report("e1", one, Minted, Some(token("7"))));
    take(&service, report("e2", one, Minted, Some(token("8"))));
    take(&service, report("e3", two, Burned, None));
    damage(&service, &["UPDATE owned_collectibles SET token_state = NULL"]);
    assert_eq!(token_of(&service, mia, one), None);
    assert_eq!(repair_counts(&service, "repair-minted-tokens"), [("tokens", 2)]);
    assert_eq!(token_of(&service, mia, one), Some(token("7")));
    assert_eq!(take(&service, report("e4", two, Minted, Some(token("9")))), ReportTaken::Nothing);
    Ok(())
}
