//! `terrace reports`, beside a server that runs on the same database (docs/operations/moderation.md).

use crate::http::media::media_id;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs;
use terrace_testkit::{
    Client, DatabaseKind, Ended, Invocation, Program, TestDatabase, on_each_database, wait_at_most,
};

on_each_database! {
    reported_content_is_listed_shown_and_removed_beside_a_server,
    dismissed_reports_are_listed_with_all_others,
    a_reported_picture_is_written_to_a_file,
    impossible_decisions_give_a_reason_and_change_nothing,
}

/// How long the server may show a page that it has cached.
const MEMORY: std::time::Duration = std::time::Duration::from_secs(5);

fn reports(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().env("USER", "kim").args(["reports"]).args(arguments.iter().copied()).run()
}

fn report(client: &Client, target: &str, reason: &str) {
    client.post(&format!("/api/locker-room/{target}/report"), &json!({"reason": reason})).expect(204);
}

fn fan(program: &Program, name: &str) -> Client {
    let client = program.client();
    client.register(name);
    client
}

/// A post by mia with a comment by bo, both reported by bea.
fn reported(program: &Program) -> (Client, String, String) {
    let [mia, bo, bea] = ["mia", "bo_", "bea"].map(|name| fan(program, name));
    let post = mia.create_post("Buy tickets here");
    let comment = bo.post(&format!("/api/locker-room/{post}/comments"), &json!({"body": "Where?\nNow!"}));
    let comment = comment.expect(201).str_at("/comment/id");
    report(&bea, &post, "An advertisement.");
    report(&bo, &post, "Spam, and\nnot for the first time: he has posted it every day");
    report(&bea, &format!("{post}/comments/{comment}"), "Rude");
    (bea, post, comment)
}

fn reported_content_is_listed_shown_and_removed_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let program = terrace.serve()?;
    assert_eq!(reports(&terrace, &["list"])?.succeeded()?, "no report waits for a decision\n");
    let (bea, post, comment) = reported(&program);

    let listed = reports(&terrace, &["list"])?.succeeded()?;
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines.len() == 4 && lines[0].starts_with("ID  "), "{listed}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[1])[..4], [comment.as_str(), "comment", "1", "exists"]);
    assert!(lines[1].ends_with("  bo_               Rude"), "{listed}");
    assert_eq!(words(lines[2])[..4], [post.as_str(), "post", "2", "exists"]);
    let reasons = "  mia               An advertisement. | Spam, and not for the first time: he has…";
    assert!(lines[2].ends_with(reasons), "{listed}");
    assert_eq!(lines[3], "2 reported posts and comments, page 1 of 1");
    let second = reports(&terrace, &["list", "--limit", "1", "--page", "2"])?.succeeded()?;
    assert!(second.contains(&post) && second.ends_with(", page 2 of 2\n"), "{second}");
    let parsed: Value = serde_json::from_str(&reports(&terrace, &["list", "--json"])?.succeeded()?)?;
    assert_eq!((&parsed["total"], &parsed["page"]), (&json!(2), &json!(1)));
    let first = &parsed["content"][0];
    assert_eq!((first["id"].as_str(), &first["kind"]), (Some(comment.as_str()), &json!("comment")));
    assert_eq!((&first["reasons"], &first["author"]["username"]), (&json!(["Rude"]), &json!("bo_")));

    let shown = reports(&terrace, &["show", &comment])?.succeeded()?;
    for words in [
        format!("comment {comment} by bo_, exists\n1 reports, 1 undecided, from "),
        format!("\n\non the post {post} by mia, created "),
        ":\n  Buy tickets here\n".to_owned(),
        "\n\nreported by bea ".to_owned(),
        ":\n  Rude\n  the text as reported:\n    Where?\n    Now!\n".to_owned(),
    ] {
        assert!(shown.contains(&words), "{words:?}: {shown}");
    }
    let parsed: Value = serde_json::from_str(&reports(&terrace, &["show", &post, "--json"])?.succeeded()?)?;
    assert_eq!((&parsed["reports"], &parsed["post"]), (&json!(2), &Value::Null));
    assert_eq!(parsed["shown"][0]["reporter"], "bea");
    assert_eq!(
        (&parsed["shown"][1]["body"], &parsed["shown"][1]["decision"]),
        (&parsed["current"]["body"], &Value::Null)
    );

    let dry = reports(&terrace, &["remove", &post, "--dry-run"])?.succeeded()?;
    assert_eq!(dry, format!("post {post}: removed, 2 reports decided\nnothing was written\n"));
    let mut stream = bea.stream("/api/locker-room/stream?scope=all").begun();
    let removed = reports(&terrace, &["remove", &comment, "--by", "the night shift"])?.succeeded()?;
    assert_eq!(removed, format!("comment {comment}: removed, 1 report decided\n"));
    let event = stream.one();
    assert_eq!((event.name.as_str(), &event.data["commentId"]), ("comment.deleted", &json!(comment)));
    let removed = reports(&terrace, &["remove", &post, "--by", "the night shift"])?.succeeded()?;
    assert_eq!(removed, format!("post {post}: removed, 2 reports decided\n"));
    let event = stream.one();
    assert_eq!((event.name.as_str(), &event.data["postId"]), ("post.deleted", &json!(post)));
    wait_at_most(MEMORY, "the post is gone", || {
        Ok(bea.get(&format!("/api/locker-room/{post}")).status == 404
            && bea.get("/api/locker-room").expect(200).list("/posts").is_empty())
    })?;
    assert_eq!(reports(&terrace, &["list", "--all"])?.succeeded()?, "there are no reports\n");
    let history = terrace.clone().args(["maintain", "history"]).run()?.succeeded()?;
    for (kind, id, counts) in
        [("comment", &comment, "comments: 1, reports: 1"), ("post", &post, "posts: 1, reports: 2")]
    {
        let line = history.lines().find(|line| line.contains(id.as_str())).context(kind)?;
        assert!(line.contains(" remove-reports succeeded after "), "{history}");
        assert!(
            line.ends_with(&format!("; {counts}; by the night shift (reports remove {id})")),
            "{history}"
        );
    }
    Ok(())
}

fn dismissed_reports_are_listed_with_all_others(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let program = terrace.serve()?;
    let (bea, post, comment) = reported(&program);
    let dismissed = reports(&terrace, &["dismiss", &post])?.succeeded()?;
    assert_eq!(dismissed, format!("post {post}: 2 reports dismissed\n"));
    bea.get(&format!("/api/locker-room/{post}")).expect(200);
    let listed = reports(&terrace, &["list"])?.succeeded()?;
    assert!(listed.contains(&comment) && !listed.contains(&post), "{listed}");
    let listed = reports(&terrace, &["list", "--all"])?.succeeded()?;
    assert!(listed.contains(&format!("{comment}  comment  1 of 1    exists ")), "{listed}");
    assert!(listed.contains(&format!("{post}  post     0 of 2    exists ")), "{listed}");
    let shown = reports(&terrace, &["show", &post])?.succeeded()?;
    assert!(shown.contains(", dismissed 2") && !shown.contains("the text as reported"), "{shown}");
    let again = reports(&terrace, &["dismiss", &post, &comment])?;
    assert!(
        again.words().contains(&format!("the reports of {post} were decided before; nothing was changed"))
    );
    assert_eq!((again.code, again.said.as_str()), (Some(1), ""));
    let history = terrace.clone().args(["maintain", "history"]).run()?.succeeded()?;
    assert!(history.ends_with(&format!("; reports: 2; by kim (reports dismiss {post})\n")), "{history}");
    Ok(())
}

fn a_reported_picture_is_written_to_a_file(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let program = terrace.serve()?;
    let [mia, bea] = ["mia", "bea"].map(|name| fan(&program, name));
    let uploaded = media_id(&mia, 1);
    let body = json!({"body": "Look!", "mediaId": uploaded, "imageAlt": "A hat"});
    let created = mia.post("/api/locker-room", &body).expect(201);
    let (post, url) = (created.str_at("/post/id"), created.str_at("/post/image/url"));
    let served = mia.get(&url).expect(200).body;
    report(&bea, &post, "Not a hat");
    mia.delete(&format!("/api/locker-room/{post}")).expect(204);
    mia.get(&url).problem(404, "not_found");

    let shown = reports(&terrace, &["show", &post, "--picture", "hat"])?.succeeded()?;
    let hash = url.rsplit('/').next().context("a hash")?;
    assert!(shown.contains(&format!("  with the picture {hash}: A hat\n")), "{shown}");
    assert!(shown.ends_with("the picture is in hat\n") && shown.contains(" by mia, deleted\n"), "{shown}");
    assert_eq!(fs::read(terrace.folder().join("hat"))?, served);
    let again = reports(&terrace, &["show", &post, "--picture", "hat"])?;
    assert!(again.code == Some(1) && again.words().contains("cannot write hat"), "{}", again.words());
    Ok(())
}

fn impossible_decisions_give_a_reason_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    let unready = reports(&terrace, &["list"])?;
    assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
    assert_eq!(unready.code, Some(1));
    let program = terrace.serve()?;
    let (_, post, _) = reported(&program);
    let unknown = "0190a6f2-7c1e-7000-8000-000000000000";
    for arguments in [&["show", unknown][..], &["dismiss", unknown, &post], &["remove", &post, unknown]] {
        let refused = reports(&terrace, arguments)?;
        let words = refused.words();
        assert!(words.contains(&format!("there is no report of {unknown}")), "{arguments:?}: {words}");
        assert_eq!((refused.code, refused.said.as_str()), (Some(1), ""), "{arguments:?}");
    }
    for arguments in [
        &[][..],
        &["remove"],
        &["dismiss", "the-post"],
        &["remove", &post, "--by", ""],
        &["list", "--limit", "0"],
        &["list", "--page", "0"],
    ] {
        assert_eq!(reports(&terrace, arguments)?.code, Some(2), "{arguments:?}");
    }
    let listed = reports(&terrace, &["list"])?.succeeded()?;
    assert!(listed.ends_with("2 reported posts and comments, page 1 of 1\n"), "{listed}");
    assert_eq!(terrace.clone().args(["maintain", "history"]).run()?.succeeded()?, "");
    Ok(())
}
