//! The quota of uploads of an account that no post uses yet.

use super::media::{answer, file, objects, post, sweep, upload};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::OnceRefusal;
use terrace_testkit::app::media::{UploadQuota, UploadRefusal};
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    an_account_has_a_bounded_number_of_waiting_uploads,
    waiting_uploads_are_bounded_in_bytes,
    fifty_uploads_at_once_fill_exactly_the_quota,
}

/// Whether the upload is refused because of the quota. Any other refusal fails the test.
fn is_refused(service: &TestApp, user: UserId, shade: u8) -> bool {
    match service.run(service.app().upload_media(file(user, shade), None, answer)) {
        Ok(_) => false,
        Err(Failure::Refused(OnceRefusal::Refused(UploadRefusal::TooManyUploads))) => true,
        Err(other) => panic!("{other:?}"),
    }
}

fn an_account_has_a_bounded_number_of_waiting_uploads(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let uploads: Vec<_> = (0..10).map(|shade| upload(&service, mia, shade).0).collect();
    let before = objects(&service);
    // An upload that is stored already, and a new one.
    assert!(is_refused(&service, mia, 1) && is_refused(&service, mia, 99));
    assert_eq!(objects(&service), before, "a refused upload stores nothing");
    assert!(!is_refused(&service, bo, 1));

    // A post that uses one makes room for one.
    service.done(post(mia, uploads[0]));
    assert!(!is_refused(&service, mia, 10));
    assert!(is_refused(&service, mia, 11));
    // The sweep makes room for all.
    service.clock().advance(Duration::from_hours(24));
    assert_eq!(sweep(&service).uploads, 11);
    assert!((0..10).all(|shade| !is_refused(&service, mia, shade)));
    assert!(is_refused(&service, mia, 10));
    Ok(())
}

fn waiting_uploads_are_bounded_in_bytes(kind: DatabaseKind) -> Result<()> {
    // A picture of a test has some 70 bytes.
    let service = TestApp::adjusted(kind, |_, app| app.upload_quota = UploadQuota { count: 10, bytes: 200 })?;
    let mia = service.fan("mia").id;
    let taken = (0..10).take_while(|shade| !is_refused(&service, mia, *shade)).count();
    let bytes = service.ask(move |tx| Ok(tx.waiting_uploads(mia)?.bytes));
    assert!((1..10).contains(&taken), "{taken} uploads");
    assert!((100..=200).contains(&bytes), "{bytes} bytes");
    Ok(())
}

fn fifty_uploads_at_once_fill_exactly_the_quota(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::adjusted(kind, |storage, app| {
        storage.run_twice = false;
        app.media_queue = 100;
    })?;
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let works = (0..50).map(|shade| {
        let app = Arc::clone(if shade % 2 == 0 { service.app() } else { other.app() });
        async move {
            match app.upload_media(file(mia, shade), None, answer).await {
                Ok(_) => true,
                Err(Failure::Refused(OnceRefusal::Refused(UploadRefusal::TooManyUploads))) => false,
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    assert_eq!(service.together(works).into_iter().filter(|took| *took).count(), 10);
    assert_eq!(service.ask(move |tx| Ok(tx.waiting_uploads(mia)?.count)), 10);
    Ok(())
}
