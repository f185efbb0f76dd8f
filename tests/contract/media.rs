//! Pictures below HTTP: references to them, and what happens to pictures without references.

use anyhow::Result;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::media::{
    ImageType, MediaStore, ObjectKey, PictureUpload, RemovePicture, UploadRefusal, Uploaded,
};
use terrace_testkit::app::room::{Attachment, CreatePost, CreatePostRefusal, DeletePost};
use terrace_testkit::app::store::StoredAnswer;
use terrace_testkit::identity::{AuthorCard, Password};
use terrace_testkit::kernel::{Clock, CtxSeed, EventKind, Failure, MediaHash, MediaId, Position, UserId};
use terrace_testkit::ops::{self, Swept};
use terrace_testkit::social::{PostImage, PostView};
use terrace_testkit::storage::MediaObjects;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_change_of_picture_is_published_once,
    a_post_is_published_with_its_picture,
    an_unused_picture_is_removed_after_a_day,
    a_picture_that_is_used_again_stays,
    the_same_picture_lies_in_one_place,
    an_object_without_a_picture_is_removed_after_a_day,
    uploads_and_sweeps_of_the_same_picture_do_not_meet,
    one_of_twenty_concurrent_posts_gets_the_picture,
    a_picture_that_cannot_be_stored_is_refused,
    the_pictures_of_a_deleted_account_are_removed,
    a_thumbnail_is_stored_and_removed_with_its_picture,
}

const DAY: Duration = Duration::from_hours(24);
const HOUR: Duration = Duration::from_hours(1);
/// An hour less than a day.
const NEARLY: Duration = Duration::from_hours(23);

/// A picture of one shade.
pub(crate) fn file(user: UserId, shade: u8) -> PictureUpload {
    let mut file = Vec::new();
    PngEncoder::new(&mut file).write_image(&[shade; 64], 8, 8, ExtendedColorType::L8).expect("a picture");
    PictureUpload { user, kind: ImageType::Png, file: file.into() }
}

fn set(service: &TestApp, user: UserId, shade: u8) -> MediaHash {
    let profile = service.run(service.app().set_picture(file(user, shade))).expect("a picture");
    profile.account.card.picture.expect("one's picture")
}

/// The answer contains the upload's id and hash, so that the test can read them from it.
pub(crate) fn answer(uploaded: &Uploaded) -> StoredAnswer {
    StoredAnswer { created: Some(uploaded.hash.to_string()), body: uploaded.id.to_string() }
}

pub(crate) fn upload(service: &TestApp, user: UserId, shade: u8) -> (MediaId, MediaHash) {
    let answered =
        service.run(service.app().upload_media(file(user, shade), None, answer)).expect("an upload");
    let hash = answered.answer.created.expect("a hash");
    (answered.answer.body.parse().expect("an id"), hash.parse().expect("a hash"))
}

pub(crate) fn post(author: UserId, media: MediaId) -> CreatePost {
    CreatePost { author, team: None, body: "Look!".to_owned(), media: Some(Attachment { media, alt: None }) }
}

pub(crate) fn sweep(service: &TestApp) -> Swept {
    service.run(ops::sweep(service.app())).expect("a sweep")
}

/// Whether the picture is served, whole.
fn is_there(service: &TestApp, hash: MediaHash) -> bool {
    match service.run(service.app().media(hash)) {
        Ok(media) => {
            service.run(service.app().open_media(media)).unwrap_or_else(|_| panic!("the object of {hash}"));
            true
        }
        Err(Failure::Refused(_)) => false,
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// How many objects lie in the folder.
pub(crate) fn objects(service: &TestApp) -> usize {
    let folders = fs::read_dir(service.pictures()).expect("the folder");
    folders.map(|folder| fs::read_dir(folder.expect("a folder").path()).expect("a folder").count()).sum()
}

fn a_change_of_picture_is_published_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let changes = |service: &TestApp| {
        let log = service.log(Position::START);
        log.iter().filter(|event| event.what.kind == EventKind::ProfileChanged).count()
    };
    for (expected, work) in [(1, Some(1)), (1, Some(1)), (2, Some(2)), (3, None), (3, None)] {
        match work {
            Some(shade) => drop(set(&service, mia, shade)),
            None => service.done(RemovePicture { user: mia }),
        }
        assert_eq!(changes(&service), expected);
    }
    let log = service.log(Position::START);
    assert!(log.iter().all(|event| event.what.subject == mia.as_uuid() && event.what.actor == Some(mia)));
    Ok(())
}

fn a_post_is_published_with_its_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let (media, hash) = upload(&service, mia, 1);
    let view: PostView<AuthorCard> = service.done(post(mia, media));
    assert_eq!(view.post.image, Some(PostImage { hash, alt: None }));
    let log = service.log(Position::START);
    let created: Vec<_> = log.iter().filter(|event| event.what.kind == EventKind::PostCreated).collect();
    assert_eq!(created.iter().map(|event| event.what.subject).collect::<Vec<_>>(), [view.post.id.as_uuid()]);
    assert_eq!(service.refused(post(mia, media)), CreatePostRefusal::UnknownMedia);
    Ok(())
}

fn an_unused_picture_is_removed_after_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let (taken, posted) = upload(&service, mia, 1);
    let (_, forgotten) = upload(&service, mia, 2);
    let shown = set(&service, mia, 3);
    let view = service.done(post(mia, taken));
    assert_eq!((sweep(&service), objects(&service)), (Swept::default(), 3));

    // The forgotten picture is unused; the others are still shown.
    service.clock().advance(DAY);
    assert!(!is_there(&service, forgotten));
    assert_eq!((sweep(&service).uploads, objects(&service)), (1, 3));
    service.clock().advance(NEARLY);
    assert_eq!(sweep(&service).pictures, 0);
    service.clock().advance(HOUR);
    assert_eq!((sweep(&service).pictures, objects(&service)), (1, 2));

    // A deleted picture is no longer served, and is removed a day later.
    service.done(DeletePost { user: mia, post: view.post.id });
    service.done(RemovePicture { user: mia });
    assert!(!is_there(&service, posted) && !is_there(&service, shown));
    assert_eq!((sweep(&service).pictures, objects(&service)), (0, 2));
    service.clock().advance(DAY);
    assert_eq!((sweep(&service).pictures, objects(&service)), (2, 0));
    assert_eq!(sweep(&service).pictures, 0);
    // And it can be uploaded again.
    assert_eq!(set(&service, mia, 3), shown);
    assert!(is_there(&service, shown));
    Ok(())
}

fn a_picture_that_is_used_again_stays(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let hash = set(&service, mia, 1);
    service.done(RemovePicture { user: mia });
    sweep(&service);
    service.clock().advance(NEARLY);
    assert_eq!(set(&service, bo, 1), hash);
    service.clock().advance(DAY);
    assert_eq!((sweep(&service).pictures, objects(&service)), (0, 1));
    assert!(is_there(&service, hash));
    // Its day starts again.
    service.done(RemovePicture { user: bo });
    assert_eq!(sweep(&service).pictures, 0);
    service.clock().advance(NEARLY);
    assert_eq!(sweep(&service).pictures, 0);
    service.clock().advance(HOUR);
    assert_eq!((sweep(&service).pictures, objects(&service)), (1, 0));
    Ok(())
}

fn the_same_picture_lies_in_one_place(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let hash = set(&service, mia, 1);
    assert_eq!(set(&service, bo, 1), hash);
    let ((first, _), (second, _)) = (upload(&service, mia, 1), upload(&service, mia, 1));
    assert_ne!(first, second);
    assert_eq!(objects(&service), 1);
    service.done(RemovePicture { user: mia });
    service.done(RemovePicture { user: bo });
    service.done(post(mia, first));
    assert!(is_there(&service, hash));
    Ok(())
}

/// A process that ended between storing an object and recording the picture leaves such an object.
fn an_object_without_a_picture_is_removed_after_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let hash = set(&service, mia, 1);
    let place = MediaObjects::folder(service.pictures())?;
    // One with the same bytes as a picture, and one with other bytes.
    for hash in [hash, MediaHash::from_bytes([7; 32])] {
        let id = CtxSeed::new(service.clock().now(), [3; 32]).open().new_id();
        service.run(place.put(ObjectKey { hash, id }, "bytes".into()))?;
    }
    service.clock().advance(NEARLY);
    assert_eq!((sweep(&service).objects, objects(&service)), (0, 3));
    service.clock().advance(HOUR);
    assert_eq!((sweep(&service).objects, objects(&service)), (2, 1));
    assert!(is_there(&service, hash));
    Ok(())
}

fn uploads_and_sweeps_of_the_same_picture_do_not_meet(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 4);
    for _ in 0..12 {
        // Everything is ready to be removed.
        set(&service, fans[0], 1);
        service.done(RemovePicture { user: fans[0] });
        sweep(&service);
        service.clock().advance(DAY);
        let mut works: Vec<tokio::task::JoinHandle<Option<MediaHash>>> = Vec::new();
        for (n, fan) in fans.iter().enumerate() {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let upload = file(*fan, 1);
            works.push(service.spawn(async move {
                let profile = app.set_picture(upload).await.expect("a picture");
                profile.account.card.picture
            }));
            let app = Arc::clone(if n % 2 == 0 { other.app() } else { service.app() });
            works.push(service.spawn(async move {
                ops::sweep(&app).await.expect("a sweep");
                None
            }));
        }
        let hashes: Vec<_> = works.into_iter().filter_map(|work| service.join(work)).collect();
        assert_eq!(hashes.len(), fans.len());
        assert!(is_there(&service, hashes[0]));
        for fan in &fans {
            service.done(RemovePicture { user: *fan });
        }
    }
    // Objects whose upload lost the race for the row are strays for a day, and no longer.
    sweep(&service);
    service.clock().advance(DAY);
    sweep(&service);
    assert_eq!(objects(&service), 0);
    Ok(())
}

fn one_of_twenty_concurrent_posts_gets_the_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let mia = service.fan("mia").id;
    let (media, _) = upload(&service, mia, 1);
    let works = (0..20).map(|_| {
        let app = Arc::clone(service.app());
        async move { app.execute(post(mia, media)).await.is_ok() }
    });
    assert_eq!(service.together(works).into_iter().filter(|took| *took).count(), 1);
    Ok(())
}

fn a_picture_that_cannot_be_stored_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let wrong = PictureUpload { file: "no picture".into(), ..file(mia, 1) };
    let refused = service.run(service.app().set_picture(wrong));
    assert!(matches!(refused, Err(Failure::Refused(UploadRefusal::NotAnImage(_)))));
    // Without the folder, no object can be stored.
    fs::remove_dir_all(service.pictures())?;
    fs::write(service.pictures(), "no folder")?;
    let broken = service.run(service.app().set_picture(file(mia, 1)));
    assert!(matches!(broken, Err(Failure::Broken(_))), "nothing is reported as stored that is not");
    fs::remove_file(service.pictures())?;
    fs::create_dir(service.pictures())?;
    Ok(())
}

fn the_pictures_of_a_deleted_account_are_removed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia");
    let worn = set(&service, mia.id, 1);
    let (taken, posted) = upload(&service, mia.id, 2);
    service.done(post(mia.id, taken));
    let (_, waiting) = upload(&service, mia.id, 3);
    let bo = service.fan("bo_").id;
    let shared = set(&service, bo, 4);
    set(&service, mia.id, 4);
    set(&service, mia.id, 1);
    for hash in [worn, posted, waiting, shared] {
        assert!(is_there(&service, hash));
    }

    let viewer = service.viewer(mia.cookie).expect("signed in");
    let password = Password::offer(PASSWORD.to_owned());
    assert!(service.run(service.app().delete_account(&viewer, password)).is_ok());
    for hash in [worn, posted, waiting] {
        assert!(!is_there(&service, hash), "at once");
    }
    service.settled();
    service.run(service.app().catch_up_consumers())?;
    service.clock().advance(DAY);
    sweep(&service);
    service.clock().advance(DAY);
    sweep(&service);
    assert_eq!(objects(&service), 1, "the bytes too");
    assert!(is_there(&service, shared), "another wears it still");
    Ok(())
}

/// The HTTP contract, part 2, section 1: the thumbnail counts against the quota, is served as long as the picture, and is
/// removed with it.
fn a_thumbnail_is_stored_and_removed_with_its_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let mut file = Vec::new();
    let pixels: Vec<u8> =
        (0..800 * 600_u32).map(|pixel| u8::try_from(pixel % 251).expect("a byte")).collect();
    PngEncoder::new(&mut file).write_image(&pixels, 800, 600, ExtendedColorType::L8)?;
    let upload = || PictureUpload { user: mia, kind: ImageType::Png, file: file.clone().into() };
    let answered = service.run(service.app().upload_media(upload(), None, answer)).expect("an upload");
    let media: MediaId = answered.answer.body.parse()?;
    let hash: MediaHash = answered.answer.created.expect("a hash").parse()?;
    assert_eq!(objects(&service), 2);
    let now = service.app().now();
    let (whole, waiting) = service.ask(move |tx| Ok((tx.media(hash, now)?, tx.waiting_uploads(mia)?)));
    let whole = whole.expect("the picture").size;
    assert!(waiting.bytes > whole, "{} bytes with the thumbnail, {whole} without", waiting.bytes);

    let view = service.done(post(mia, media));
    let size = view.image.expect("a picture");
    let thumbnail = size.thumbnail.expect("a thumbnail");
    assert_eq!((size.width, size.height), (800, 600));
    assert!(is_there(&service, hash) && is_there(&service, thumbnail));
    // The same file again is the same picture, with the same thumbnail.
    service.run(service.app().upload_media(upload(), None, answer)).expect("an upload");
    assert_eq!(objects(&service), 2);
    service.clock().advance(DAY);
    assert_eq!((sweep(&service).uploads, objects(&service)), (1, 2));

    service.done(DeletePost { user: mia, post: view.post.id });
    assert!(!is_there(&service, hash) && !is_there(&service, thumbnail));
    assert_eq!((sweep(&service).pictures, objects(&service)), (0, 2));
    service.clock().advance(DAY);
    assert_eq!((sweep(&service).pictures, objects(&service)), (2, 0));
    Ok(())
}
