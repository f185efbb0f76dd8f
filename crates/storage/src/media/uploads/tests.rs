use super::*;
use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, uuid};
use terrace_identity::AccountWrite;
use terrace_kernel::PostId;
use terrace_social::{NewPost, PostImage, PostWrite};
use terrace_store::media::ImageType;

on_each_database! {
    a_picture_is_there_while_something_refers_to_it,
    an_upload_is_taken_once_by_its_owner_in_time,
    the_same_bytes_stay_in_their_first_object,
    only_what_was_unused_for_a_while_goes,
    a_thumbnail_is_there_as_long_as_its_picture,
}

fn hash(n: u8) -> MediaHash {
    MediaHash::from_bytes([n; 32])
}

fn object(n: u8, id: u128) -> ObjectKey {
    ObjectKey { hash: hash(n), id: uuid(id) }
}

fn store(tx: &mut DieselTx<'_>, uploader: UserId, object: ObjectKey) {
    let kind = ImageType::Jpeg;
    let new = NewMedia { object, kind, size: 1234, width: 40, height: 30, thumbnail: None, uploader };
    tx.insert_media(&new, at(0)).unwrap();
}

/// Stores a picture whose thumbnail has the next number.
fn store_with_thumbnail(tx: &mut DieselTx<'_>, uploader: UserId, n: u8) {
    let kind = ImageType::Jpeg;
    store(tx, uploader, object(n + 1, u128::from(n) + 1));
    let (object, thumbnail) = (object(n, u128::from(n)), Some(hash(n + 1)));
    let new = NewMedia { object, kind, size: 5000, width: 900, height: 700, thumbnail, uploader };
    tx.insert_media(&new, at(0)).unwrap();
}

fn upload(tx: &mut DieselTx<'_>, uploader: UserId, n: u8, id: u128, until: i64) -> MediaId {
    let id = MediaId::from(uuid(id));
    let upload = NewUpload { id, hash: hash(n), uploader, created_at: at(0), expires_at: at(until) };
    let quota = UploadQuota { count: 10, bytes: 100_000 };
    assert!(tx.insert_upload(&upload, quota).unwrap());
    id
}

/// Marks unused pictures in all shards.
fn mark(tx: &mut DieselTx<'_>, now: i64) -> u64 {
    (0..=u8::MAX).map(|shard| tx.mark_unused_media(shard, at(now)).unwrap()).sum()
}

fn a_picture_is_there_while_something_refers_to_it(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    store(tx, ana, object(7, 1));
    let expected = StoredMedia { object: object(7, 1), kind: ImageType::Jpeg, size: 1234 };
    let seen = |tx: &mut DieselTx<'_>, now| {
        let found = tx.media(hash(7), at(now)).unwrap();
        assert!(found.is_none_or(|found| found == expected));
        found.is_some()
    };
    assert!(!seen(tx, 1), "nothing refers to it yet");

    let id = upload(tx, ana, 7, 20, 100);
    assert_eq!([seen(tx, 99), seen(tx, 100)], [true, false]);
    assert_eq!(tx.take_upload(id, ana, at(50)).unwrap(), Some(hash(7)));
    assert!(!seen(tx, 51));

    assert!(tx.set_picture(ana, Some(hash(7)), at(52)).unwrap());
    assert!(seen(tx, 53));
    for status in ["suspended", "deleted"] {
        run(tx, &format!("UPDATE users SET status = '{status}'"));
        assert!(!seen(tx, 53));
    }

    let id = PostId::from(uuid(30));
    let body = "Olé".to_owned();
    let image = Some(PostImage { hash: hash(7), alt: Some("A goal".to_owned()) });
    let post = NewPost { id, author: ana, team: None, body, image: image.clone(), created_at: at(54) };
    tx.insert_post(&post).unwrap();
    assert!(!seen(tx, 55), "its author is not active");
    run(tx, "UPDATE users SET status = 'active', picture = NULL");
    assert_eq!(tx.lock_post(id, None).unwrap().and_then(|post| post.image), image);
    assert!(seen(tx, 55));
    assert!(tx.mark_post_deleted(id, at(56)).unwrap());
    assert!(!seen(tx, 57));
    assert_eq!(tx.media(hash(8), at(57)).unwrap(), None);
}

fn a_thumbnail_is_there_as_long_as_its_picture(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    store_with_thumbnail(tx, ana, 10);
    store_with_thumbnail(tx, ana, 20);
    let seen = |tx: &mut DieselTx<'_>| [10, 11, 20, 21].map(|n| tx.media(hash(n), at(1)).unwrap().is_some());
    assert_eq!(seen(tx), [false; 4], "nothing refers to them yet");
    let first = upload(tx, ana, 10, 30, 100);
    upload(tx, ana, 20, 31, 100);
    assert_eq!(seen(tx), [true; 4]);
    let waiting = tx.waiting_uploads(ana).unwrap();
    assert_eq!(waiting, WaitingUploads { count: 2, bytes: 2 * (5000 + 1234) });

    // A picture without the thumbnail that was rendered is stored again.
    assert!(tx.hold_media(hash(10), Some(hash(11))).unwrap());
    assert!(!tx.hold_media(hash(10), None).unwrap());
    assert!(!tx.hold_media(hash(10), Some(hash(21))).unwrap());
    store(tx, ana, object(20, 99));
    assert!(tx.hold_media(hash(20), Some(hash(21))).unwrap(), "it keeps its thumbnail");

    assert_eq!(tx.take_upload(first, ana, at(1)).unwrap(), Some(hash(10)));
    assert_eq!(seen(tx), [false, false, true, true]);
    assert_eq!(mark(tx, 10), 1, "the thumbnail is not marked by itself");
    // The second thumbnail is also a profile picture.
    assert_eq!(tx.sweep_uploads(at(100), 10).unwrap(), 1);
    assert!(tx.set_picture(ana, Some(hash(21)), at(101)).unwrap());
    assert_eq!(mark(tx, 10), 1);
    let mut removed = tx.remove_unused_media(at(10), 10).unwrap();
    assert_eq!(removed.len(), 2);
    removed.extend(tx.remove_unused_media(at(10), 10).unwrap());
    removed.sort();
    assert_eq!(removed, [object(10, 10), object(11, 11), object(20, 20)]);
    assert_eq!(tx.remove_unused_media(at(10), 10).unwrap(), []);
    assert_eq!(seen(tx), [false, false, false, true]);
}

fn an_upload_is_taken_once_by_its_owner_in_time(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let (ana, bea) = (fan(tx, 1), fan(tx, 2));
    store(tx, ana, object(7, 1));
    let (first, late) = (upload(tx, ana, 7, 20, 100), upload(tx, ana, 7, 21, 100));
    assert_eq!(tx.take_upload(first, bea, at(1)).unwrap(), None);
    assert_eq!(tx.take_upload(MediaId::from(uuid(9)), ana, at(1)).unwrap(), None);
    assert_eq!(tx.take_upload(first, ana, at(1)).unwrap(), Some(hash(7)));
    assert_eq!(tx.take_upload(first, ana, at(1)).unwrap(), None);
    assert_eq!(tx.take_upload(late, ana, at(100)).unwrap(), None);
    assert_eq!((tx.remove_uploads_of(bea).unwrap(), tx.remove_uploads_of(ana).unwrap()), (0, 1));
}

fn the_same_bytes_stay_in_their_first_object(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    assert!(!tx.hold_media(hash(7), None).unwrap());
    store(tx, ana, object(7, 1));
    store(tx, ana, object(7, 2));
    assert!(tx.hold_media(hash(7), None).unwrap());
    let asked = [object(7, 2), object(7, 1), object(8, 1)];
    assert_eq!(tx.known_objects(&asked).unwrap(), [object(7, 1)]);
    assert_eq!(tx.known_objects(&[]).unwrap(), []);
}

fn only_what_was_unused_for_a_while_goes(kind: DatabaseKind) {
    let mut database = Database::on(kind);
    let tx = &mut database.tx();
    let ana = fan(tx, 1);
    for n in [0, 7, 8, 9, 255] {
        store(tx, ana, object(n, u128::from(n) + 1));
    }
    upload(tx, ana, 8, 20, 100);
    assert!(tx.set_picture(ana, Some(hash(9)), at(1)).unwrap());
    assert_eq!(tx.mark_unused_media(8, at(10)).unwrap(), 0);
    assert_eq!((mark(tx, 10), mark(tx, 11)), (3, 0));
    assert_eq!(tx.remove_unused_media(at(9), 10).unwrap(), []);

    // One picture is held, and another is used again without having been held.
    assert!(tx.hold_media(hash(7), None).unwrap());
    upload(tx, ana, 255, 21, 100);
    assert_eq!(tx.remove_unused_media(at(10), 10).unwrap(), [object(0, 1)]);
    assert_eq!((tx.unmark_used_media(10).unwrap(), tx.unmark_used_media(10).unwrap()), (1, 0));

    // An expired upload is removed first, then pictures without any other reference.
    assert_eq!((tx.sweep_uploads(at(99), 10).unwrap(), tx.sweep_uploads(at(100), 1).unwrap()), (0, 1));
    assert_eq!(tx.sweep_uploads(at(100), 10).unwrap(), 1);
    assert!(tx.set_picture(ana, None, at(101)).unwrap());
    assert_eq!(mark(tx, 102), 4);
    let mut removed = tx.remove_unused_media(at(102), 3).unwrap();
    assert_eq!(removed.len(), 3);
    removed.extend(tx.remove_unused_media(at(102), 3).unwrap());
    removed.sort();
    assert_eq!(removed, [object(7, 8), object(8, 9), object(9, 10), object(255, 256)]);
}

#[test]
fn no_look_at_a_picture_reads_a_whole_table() {
    let mut database = Database::sqlite();
    let plans = plans_of(&mut database, |tx| {
        tx.media(hash(7), at(1)).unwrap();
        tx.hold_media(hash(7), None).unwrap();
        tx.mark_unused_media(7, at(1)).unwrap();
        tx.unmark_used_media(10).unwrap();
        tx.remove_unused_media(at(1), 10).unwrap();
        tx.sweep_uploads(at(1), 10).unwrap();
        tx.waiting_uploads(UserId::from(uuid(1))).unwrap();
    });
    for plan in &plans {
        let scans_index = plan.split(" | ").all(|step| !step.starts_with("SCAN") || step.contains("INDEX"));
        assert!(scans_index, "{plan}");
    }
}
