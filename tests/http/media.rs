//! Pictures over HTTP: for profiles and posts, valid and invalid ones.

use super::pictures::{ZIP, bomb, gray_png, jpeg, large_jpeg, png, sideways_jpeg, transparent_webp, webp};
use anyhow::Result;
use image::{GenericImageView, ImageFormat};
use serde_json::{Value, json};
use std::thread;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database, raw};

on_each_database! {
    a_profile_has_a_picture,
    a_post_takes_an_uploaded_picture,
    a_picture_is_served_to_be_cached,
    only_pixels_of_a_picture_survive,
    files_that_are_no_picture_are_refused,
    types_and_sizes_are_bounded,
    without_a_session_a_picture_is_not_revealed,
    an_upload_is_private_and_for_one_post,
    one_of_two_concurrent_posts_gets_the_picture,
    a_repeated_upload_is_one,
    addresses_that_name_no_picture,
    a_posts_picture_has_a_size_a_description_and_a_thumbnail,
}

const PICTURE: &str = "/api/user/picture";
const MEDIA: &str = "/api/media";
const ROOM: &str = "/api/locker-room";
const LIMIT: usize = 5 * 1024 * 1024;

fn put(client: &Client, content_type: &str, file: impl Into<Vec<u8>>) -> Answer {
    client.ask("PUT", PICTURE).body(content_type, file).send()
}

fn upload(client: &Client, content_type: &str, file: impl Into<Vec<u8>>) -> Answer {
    client.ask("POST", MEDIA).body(content_type, file).send()
}

/// Uploads a picture; returns the id of the upload.
pub(crate) fn media_id(client: &Client, n: u8) -> String {
    upload(client, "image/png", png(n)).expect(201).str_at("/mediaId")
}

fn post(client: &Client, media: &str) -> Answer {
    client.post(ROOM, &json!({"body": "Look!", "mediaId": media}))
}

fn a_profile_has_a_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let profile = mia.get("/api/user").expect(200);
    assert_eq!(profile.at("/pictureUrl"), Value::Null);
    mia.create_post("Hello");

    let first = put(&mia, "image/png", png(1)).expect(200);
    assert_eq!(mia.get("/api/user").expect(200).json(), first.json());
    let first = first.str_at("/pictureUrl");
    let user = profile.str_at("/id");
    let shown = || {
        let feed = visitor.get(ROOM).expect(200);
        assert_eq!(
            feed.at("/posts/0/author/pictureUrl"),
            visitor.get(&format!("/api/users/{user}")).expect(200).at("/pictureUrl")
        );
        feed.at("/posts/0/author/pictureUrl")
    };
    assert_eq!(shown(), json!(first));
    visitor.get(&first).expect(200);

    // The same file again is the same picture; another file replaces it at once.
    assert_eq!(put(&mia, "image/png", png(1)).expect(200).str_at("/pictureUrl"), first);
    let second = put(&mia, "image/jpeg", jpeg(2)).expect(200).str_at("/pictureUrl");
    assert_eq!(shown(), json!(second));
    visitor.get(&second).expect(200);
    visitor.get(&first).problem(404, "not_found");

    // Another fan may show the same picture.
    let bo = service.fan("bo_");
    assert_eq!(put(&bo, "image/jpeg", jpeg(2)).expect(200).str_at("/pictureUrl"), second);
    for _ in 0..2 {
        assert!(mia.delete(PICTURE).expect(204).body.is_empty());
    }
    assert_eq!(shown(), Value::Null);
    visitor.get(&second).expect(200);
    bo.delete(PICTURE).expect(204);
    visitor.get(&second).problem(404, "not_found");
    Ok(())
}

fn a_post_takes_an_uploaded_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let uploaded = upload(&mia, "image/webp", webp(3)).expect(201);
    let url = uploaded.str_at("/url");
    assert_eq!(uploaded.header("location"), Some(url.as_str()));
    visitor.get(&url).expect(200);

    let created = post(&mia, &uploaded.str_at("/mediaId")).expect(201);
    assert_eq!(created.str_at("/post/imageUrl"), url);
    let location = created.header("location").unwrap_or_default().to_owned();
    assert_eq!(visitor.get(&location).expect(200).str_at("/post/imageUrl"), url);
    assert_eq!(visitor.get(ROOM).expect(200).str_at("/posts/0/imageUrl"), url);
    visitor.get(&url).expect(200);

    mia.delete(&location).expect(204);
    visitor.get(&url).problem(404, "not_found");
    // Uploaded again, it exists again.
    assert_eq!(upload(&mia, "image/webp", webp(3)).expect(201).str_at("/url"), url);
    visitor.get(&url).expect(200);
    Ok(())
}

fn a_picture_is_served_to_be_cached(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    for (file, declared, given) in [
        (png(4), "image/png", "image/png"),
        (jpeg(4), "IMAGE/JPEG", "image/jpeg"),
        (webp(4), "image/webp; charset=binary", "image/jpeg"),
        (transparent_webp(), "image/webp", "image/png"),
    ] {
        let url = upload(&mia, declared, file).expect(201).str_at("/url");
        let got = visitor.ask("GET", &url).header("accept-encoding", "gzip, br").send().expect(200);
        let hash = url.strip_prefix("/media/").unwrap_or_default();
        let tag = format!("\"{hash}\"");
        for answer in [&got, &visitor.ask("HEAD", &url).send().expect(200)] {
            for (name, value) in [
                ("content-type", given),
                ("cache-control", "public, max-age=31536000, immutable"),
                ("etag", &tag),
                ("content-disposition", "inline"),
                ("content-length", &got.body.len().to_string()),
                ("x-content-type-options", "nosniff"),
            ] {
                assert_eq!(answer.headers(name), [value], "{name}");
            }
            let policy = answer.header("content-security-policy").unwrap_or_default();
            assert!(policy.starts_with("default-src 'none';") && policy.ends_with("sandbox"), "{policy}");
            assert_eq!((answer.header("content-encoding"), answer.header("set-cookie")), (None, None));
        }
        let lists = [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()];
        for asked in lists {
            let same = visitor.ask("GET", &url).header("if-none-match", asked).send().expect(304);
            assert!(same.body.is_empty());
            assert_eq!(same.headers("etag"), [tag.as_str()]);
            assert_eq!(same.headers("cache-control"), ["public, max-age=31536000, immutable"]);
        }
        visitor.ask("GET", &url).header("if-none-match", "\"x\"").send().expect(200);
    }
    Ok(())
}

fn only_pixels_of_a_picture_survive(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let seen = |answer: Answer, pointer: &str| mia.get(&answer.str_at(pointer)).expect(200).body;
    let sideways = seen(put(&mia, "image/jpeg", sideways_jpeg()).expect(200), "/pictureUrl");
    let image = image::load_from_memory_with_format(&sideways, ImageFormat::Jpeg)?;
    assert_eq!(image.dimensions(), (30, 40));
    for words in [&b"Exif"[..], b"GPS"] {
        assert!(!sideways.windows(words.len()).any(|part| part == words));
    }
    // Data that a camera appends to the picture is not part of it either.
    let hung = [jpeg(5), b"MOTION AND SOUND".to_vec()].concat();
    let kept = seen(put(&mia, "image/jpeg", hung).expect(200), "/pictureUrl");
    assert!(kept.ends_with(b"\xff\xd9"));
    let large = large_jpeg(3000, 1500);
    let profile = seen(put(&mia, "image/jpeg", large.clone()).expect(200), "/pictureUrl");
    assert_eq!(image::load_from_memory(&profile)?.dimensions(), (512, 256));
    let posted = seen(upload(&mia, "image/jpeg", large).expect(201), "/url");
    assert_eq!(image::load_from_memory(&posted)?.dimensions(), (2048, 1024));
    Ok(())
}

fn files_that_are_no_picture_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let before = mia.get("/api/user").expect(200).json();
    let cut = |mut file: Vec<u8>| {
        file.truncate(file.len() - 20);
        file
    };
    for (what, declared, file) in [
        ("nothing", "image/png", Vec::new()),
        ("a bomb", "image/png", bomb(50_000, 50_000)),
        ("a bomb of the largest size", "image/png", bomb(u32::MAX >> 1, u32::MAX >> 1)),
        ("a bomb within bounds", "image/png", bomb(5000, 5000)),
        ("20,000 pixels wide", "image/png", gray_png(20_000, 1)),
        ("20,000 pixels high", "image/png", gray_png(1, 20_000)),
        ("a truncated PNG", "image/png", cut(png(1))),
        ("a truncated JPEG", "image/jpeg", cut(jpeg(1))),
        ("a truncated WebP", "image/webp", cut(webp(1))),
        ("a PNG and a ZIP", "image/png", [png(1), ZIP.to_vec()].concat()),
        ("a JPEG and a ZIP", "image/jpeg", [jpeg(1), ZIP.to_vec()].concat()),
        ("a WebP and a ZIP", "image/webp", [webp(1), ZIP.to_vec()].concat()),
        ("a JPEG that says PNG", "image/png", jpeg(1)),
        ("a PNG that says WebP", "image/webp", png(1)),
        ("a page that says PNG", "image/png", b"<!doctype html><script>alert(1)</script>".to_vec()),
        ("a drawing", "image/png", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec()),
        ("zeros", "image/jpeg", vec![0; 100_000]),
        ("zeros up to the limit", "image/jpeg", vec![0; LIMIT]),
    ] {
        for answer in [put(&mia, declared, file.clone()), upload(&mia, declared, file)] {
            assert_eq!(answer.status, 422, "{what}: {}", answer.text());
            let _ = answer.problem(422, "not_an_image");
        }
    }
    assert_eq!(mia.get("/api/user").expect(200).json(), before);
    assert_eq!(std::fs::read_dir(service.pictures())?.count(), 0, "nothing of it is kept");
    Ok(())
}

fn types_and_sizes_are_bounded(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    for send in [put, upload] {
        for content_type in
            ["", "image/gif", "image/svg+xml", "image/*", "image/jpg", "text/html", "*/*", "png"]
        {
            send(&mia, content_type, png(1)).problem(415, "unsupported_media_type");
        }
        send(&mia, "multipart/form-data; boundary=x", png(1)).problem(415, "unsupported_media_type");
        send(&mia, "image/png", vec![0; LIMIT + 1]).problem(413, "payload_too_large");
    }
    let packed = mia.ask("PUT", PICTURE).header("content-encoding", "gzip").body("image/png", png(1));
    packed.send().problem(415, "unsupported_media_type");

    // A request without a length.
    let cookie = mia.cookie("session").unwrap_or_default();
    let head = format!(
        "PUT {PICTURE} HTTP/1.1\r\nHost: localhost\r\nCookie: session={cookie}\r\nContent-Type: image/png\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    let chunk = [format!("{:x}\r\n", 1 << 20).as_bytes(), &vec![0; 1 << 20], b"\r\n"].concat();
    let endless = [head.into_bytes(), chunk.repeat(8)].concat();
    let answer = raw(service.address(), &endless)?.expect("an answer");
    assert_eq!(answer.status, 413, "{}", answer.text());

    // An operator can set a lower limit.
    let strict = TestService::builder(kind).web(|web| web.picture_limit = 100).start()?;
    put(&strict.fan("mia"), "image/png", png(1)).problem(413, "payload_too_large");
    Ok(())
}

fn without_a_session_a_picture_is_not_revealed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let visitor = service.client();
    for send in [put, upload] {
        for (content_type, file) in [
            ("image/png", png(1)),
            ("image/png", b"no picture".to_vec()),
            ("text/plain", b"x".to_vec()),
            ("image/png", vec![0; LIMIT + 1]),
        ] {
            send(&visitor, content_type, file).problem(401, "authentication_required");
        }
    }
    visitor.delete(PICTURE).problem(401, "authentication_required");
    assert_eq!(std::fs::read_dir(service.pictures())?.count(), 0);
    Ok(())
}

fn an_upload_is_private_and_for_one_post(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let refused = |client: &Client, media: &str| {
        assert_eq!(post(client, media).problem(422, "validation_failed").pointers(), ["/mediaId"]);
    };
    let media = media_id(&mia, 1);
    refused(&mia, "0190a6f2-7c1e-7abc-8def-0123456789ab");
    refused(&bo, &media);
    for wrong in ["", "1", &media.replace('-', ""), &media.to_uppercase().replace('-', "+")] {
        assert_eq!(post(&mia, wrong).problem(400, "invalid_request").pointers(), ["/mediaId"]);
    }
    let wrong = mia.post(ROOM, &json!({"body": "x", "mediaId": null}));
    assert_eq!(wrong.problem(400, "invalid_request").pointers(), ["/mediaId"]);

    // A refused post used no upload.
    let unknown = "0190a6f2-7c1e-7abc-8def-0123456789ab";
    let wrong = mia.post(ROOM, &json!({"body": "x", "teamId": unknown, "mediaId": media}));
    assert_eq!(wrong.problem(422, "validation_failed").pointers(), ["/teamId"]);
    mia.post(ROOM, &json!({"body": " ", "mediaId": media})).problem(422, "validation_failed");
    post(&mia, &media).expect(201);
    refused(&mia, &media);

    // It waits for a day.
    let late = media_id(&mia, 2);
    service.clock().advance(std::time::Duration::from_hours(24));
    refused(&mia, &late);
    assert_eq!(mia.get(ROOM).expect(200).list("/posts").len(), 1);
    Ok(())
}

fn one_of_two_concurrent_posts_gets_the_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).without_dry_run().start()?;
    let mia = service.fan("mia");
    for round in 0..5 {
        let media = media_id(&mia, round);
        let mut statuses: Vec<u16> = thread::scope(|scope| {
            let posts: Vec<_> = (0..4)
                .map(|_| {
                    let (mia, media) = (mia.fork(), &media);
                    scope.spawn(move || post(&mia, media).status)
                })
                .collect();
            posts.into_iter().map(|post| post.join().expect("an answer")).collect()
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422, 422, 422]);
    }
    let feed = mia.get(ROOM).expect(200).list("/posts");
    assert_eq!(feed.len(), 5);
    assert!(feed.iter().all(|post| post["imageUrl"].is_string()));
    Ok(())
}

fn a_repeated_upload_is_one(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let send = |key: &str, content_type: &str, file: Vec<u8>| {
        mia.ask("POST", MEDIA).header("idempotency-key", key).body(content_type, file).send()
    };
    let first = send("key-1", "image/png", png(1)).expect(201);
    let again = send("key-1", "image/png", png(1)).expect(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((again.json(), again.header("location")), (first.json(), first.header("location")));
    send("key-1", "image/png", png(2)).problem(422, "idempotency_key_reused");
    assert_ne!(send("key-2", "image/png", png(1)).expect(201).at("/mediaId"), first.at("/mediaId"));
    // A refusal is not stored.
    send("key-3", "image/png", b"no picture".to_vec()).problem(422, "not_an_image");
    send("key-3", "image/png", png(3)).expect(201);
    Ok(())
}

fn addresses_that_name_no_picture(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let url = put(&mia, "image/png", png(1)).expect(200).str_at("/pictureUrl");
    let hash = url.strip_prefix("/media/").unwrap_or_default().to_owned();
    visitor.get(&format!("/media/{}", "0".repeat(64))).problem(404, "not_found");
    for junk in [
        "1",
        "..",
        "%2e%2e",
        "..%2f..%2fterrace.db",
        "%2Fetc%2Fpasswd",
        "%00",
        "%ff",
        &hash[1..],
        &hash.to_uppercase(),
        &format!("{hash}0"),
        &format!("{hash}%00"),
        &format!("{hash}.png"),
        &format!("{}/{hash}", &hash[..2]),
        &"a".repeat(4000),
    ] {
        let answer = visitor.get(&format!("/media/{junk}"));
        assert!([400, 404].contains(&answer.status), "{junk}: {}", answer.text());
    }
    visitor.get("/media").problem(404, "not_found");
    visitor.get("/media/").problem(404, "not_found");
    let answer = visitor.get(&format!("/media/{}", &hash[1..])).problem(400, "invalid_request");
    assert_eq!(answer.pointers(), ["/hash"]);
    visitor.get(&url).expect(200);
    Ok(())
}

/// The HTTP contract, part 2, section 1, "objects inside others".
fn a_posts_picture_has_a_size_a_description_and_a_thumbnail(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, visitor) = (service.fan("mia"), service.client());
    let uploaded = upload(&mia, "image/jpeg", large_jpeg(1600, 1200)).expect(201);
    let body = json!({"body": "Look!", "mediaId": uploaded.str_at("/mediaId"), "imageAlt": " A save. \n"});
    let post = mia.post(ROOM, &body).expect(201);
    let (url, thumbnail) = (post.str_at("/post/image/url"), post.str_at("/post/image/thumbnailUrl"));
    let expected =
        json!({"url": url, "width": 1600, "height": 1200, "alt": "A save.", "thumbnailUrl": thumbnail});
    assert_eq!((post.at("/post/image"), post.str_at("/post/imageUrl")), (expected, url.clone()));
    assert_eq!(visitor.get(ROOM).expect(200).at("/posts/0/image"), post.at("/post/image"));
    for (path, size) in [(&url, (1600, 1200)), (&thumbnail, (640, 480))] {
        let picture = visitor.get(path).expect(200);
        let picture = image::load_from_memory_with_format(&picture.body, ImageFormat::Jpeg)?;
        assert_eq!(picture.dimensions(), size);
    }
    let path = format!("{ROOM}/{}", post.str_at("/post/id"));
    mia.delete(&path).expect(204);
    visitor.get(&url).problem(404, "not_found");
    visitor.get(&thumbnail).problem(404, "not_found");

    // A small picture is its own thumbnail, and needs no description.
    let small = self::post(&mia, &media_id(&mia, 1)).expect(201);
    let url = small.str_at("/post/imageUrl");
    let expected = json!({"url": url, "width": 40, "height": 30, "alt": null, "thumbnailUrl": url});
    assert_eq!(small.at("/post/image"), expected);

    let media = media_id(&mia, 2);
    for alt in ["", " \n ", &"x".repeat(301)] {
        let answer = mia.post(ROOM, &json!({"body": "Look!", "mediaId": media, "imageAlt": alt}));
        assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/imageAlt"]);
    }
    let answer = mia.post(ROOM, &json!({"body": "", "imageAlt": "A save"})).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/body", "/imageAlt"]);
    mia.post(ROOM, &json!({"body": "Look!", "mediaId": media, "imageAlt": "x".repeat(300)})).expect(201);
    Ok(())
}
