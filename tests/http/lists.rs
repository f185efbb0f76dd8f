//! The HTTP contract, part 2, section 1: posts with a hashtag, posts of a fan, and relations to several fans.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_hashtag_has_its_feed,
    a_fan_has_a_list_of_posts,
    relations_to_several_fans_are_read_at_once,
}

/// Reads a list of posts to its end, two to a page.
fn posts(client: &Client, path: &str) -> Vec<String> {
    let first = format!("{path}{}limit=2", if path.contains('?') { '&' } else { '?' });
    let (mut target, mut ids) = (first.clone(), Vec::new());
    loop {
        let page = client.get(&target).expect(200);
        let list = page.list("/posts");
        assert!(list.len() <= 2);
        ids.extend(list.iter().map(|post| post["id"].as_str().unwrap_or_default().to_owned()));
        let Value::String(cursor) = page.at("/nextCursor") else { return ids };
        target = format!("{first}&cursor={cursor}");
    }
}

fn id_of(client: &Client) -> String {
    client.get("/api/user").expect(200).str_at("/id")
}

fn a_hashtag_has_its_feed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let mut tagged: Vec<String> = (0..5)
        .map(|n| if n % 2 == 0 { &mia } else { &bo }.create_post(&format!("{n} #Goal #n{n}")))
        .collect();
    mia.create_post("No goal");
    tagged.reverse();
    let visitor = service.client();
    for client in [&visitor, &mia, &bo] {
        for tag in ["goal", "GOAL", "%23Goal", "%EF%BC%83goal"] {
            assert_eq!(posts(client, &format!("/api/locker-room?tag={tag}")), tagged);
        }
        assert_eq!(posts(client, "/api/locker-room?scope=all&sort=recent&tag=n3"), [tagged[1].clone()]);
        assert_eq!(posts(client, "/api/locker-room?tag=nothing"), [""; 0]);
    }
    let page = mia.get("/api/locker-room?tag=goal&limit=2").expect(200);
    assert!(page.at("/streamPosition").is_i64());
    let cursor = page.str_at("/nextCursor");
    visitor.get(&format!("/api/locker-room?tag=n3&cursor={cursor}")).problem(400, "invalid_request");
    visitor.get(&format!("/api/locker-room?cursor={cursor}")).problem(400, "invalid_request");

    // An edit moves a post out of the list and into another; a reaction is the reader's own.
    mia.patch(&format!("/api/locker-room/{}", tagged[0]), &json!({"body": "#save"})).expect(200);
    assert_eq!(posts(&visitor, "/api/locker-room?tag=goal"), tagged[1..]);
    assert_eq!(posts(&visitor, "/api/locker-room?tag=save"), tagged[..1]);
    bo.post(&format!("/api/locker-room/{}/react", tagged[0]), &json!({"kind": "fire"})).expect(200);
    for (client, own) in [(&bo, json!("fire")), (&mia, Value::Null), (&visitor, Value::Null)] {
        assert_eq!(client.get("/api/locker-room?tag=save").expect(200).at("/posts/0/myReaction"), own);
    }
    // Deleted posts and those of hidden fans are left out before the page is cut.
    mia.delete(&format!("/api/locker-room/{}", tagged[2])).expect(204);
    assert_eq!(posts(&visitor, "/api/locker-room?tag=goal"), [&tagged[1..2], &tagged[3..]].concat());
    mia.post("/api/user/block", &json!({"userId": id_of(&bo)})).expect(200);
    assert_eq!(posts(&mia, "/api/locker-room?tag=goal"), tagged[4..]);
    assert_eq!(posts(&bo, "/api/locker-room?tag=goal"), [tagged[1].clone(), tagged[3].clone()]);

    let team = visitor.get("/api/teams?limit=1").expect(200).str_at("/teams/0/id");
    for query in
        ["scope=following&tag=goal", "scope=team&tag=goal", &format!("scope=team&teamId={team}&tag=goal")]
    {
        let answer = mia.get(&format!("/api/locker-room?{query}")).problem(400, "invalid_request");
        assert_eq!(answer.pointers(), ["/tag"], "{query}");
    }
    for tag in ["go%20al", "2026", "%23", "goal!", "%23%23goal", &"a".repeat(51)] {
        let answer = visitor.get(&format!("/api/locker-room?tag={tag}")).problem(422, "validation_failed");
        assert_eq!(answer.pointers(), ["/tag"], "{tag}");
    }
    let answer = visitor.get("/api/locker-room?tag=goal&sort=trending").problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/sort"]);
    visitor.get("/api/locker-room?tag=goal&tag=save").problem(400, "invalid_request");
    Ok(())
}

fn a_fan_has_a_list_of_posts(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo, visitor) = (service.fan("mia"), service.fan("bo_"), service.client());
    let path = format!("/api/users/{}/posts", id_of(&mia));
    let mut own: Vec<String> = (0..5).map(|n| mia.create_post(&format!("Post {n}"))).collect();
    own.reverse();
    bo.create_post("Of another");
    for client in [&mia, &bo, &visitor] {
        assert_eq!(posts(client, &path), own);
    }
    bo.post(&format!("/api/locker-room/{}/react", own[0]), &json!({"kind": "sad"})).expect(200);
    assert_eq!(bo.get(&path).expect(200).at("/posts/0/myReaction"), "sad");
    assert_eq!(visitor.get(&path).expect(200).at("/posts/0/myReaction"), Value::Null);
    mia.delete(&format!("/api/locker-room/{}", own[1])).expect(204);
    own.remove(1);
    assert_eq!(posts(&bo, &path), own);
    let cursor = bo.get(&format!("{path}?limit=1")).expect(200).str_at("/nextCursor");
    let other = format!("/api/users/{}/posts?cursor={cursor}", id_of(&bo));
    visitor.get(&other).problem(400, "invalid_request");

    // Hidden, unknown and suspended fans are not found, without a distinction.
    mia.post("/api/user/block", &json!({"userId": id_of(&bo)})).expect(200);
    bo.get(&path).problem(404, "not_found");
    mia.get(&format!("/api/users/{}/posts", id_of(&bo))).problem(404, "not_found");
    assert_eq!(posts(&mia, &path), own);
    visitor.get(&format!("/api/users/{UNKNOWN}/posts")).problem(404, "not_found");
    visitor.get("/api/users/mia/posts").problem(400, "invalid_request");
    visitor.get(&format!("{path}?limit=0")).problem(422, "validation_failed");
    let suspend = SuspendAccount { username: "mia".to_owned() };
    service.run(service.app().execute(suspend)).expect("an account");
    visitor.get(&path).problem(404, "not_found");
    Ok(())
}

fn relations_to_several_fans_are_read_at_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let others = ["bo_", "kim", "ana", "zoe"].map(|name| service.fan(name));
    let [bo, kim, ana, zoe] = others.each_ref().map(id_of);
    let own = id_of(&mia);
    for followed in [&bo, &kim] {
        mia.post("/api/user/follow", &json!({"userId": followed})).expect(200);
    }
    for follower in [&others[1], &others[3]] {
        follower.post("/api/user/follow", &json!({"userId": own})).expect(200);
    }
    mia.post("/api/user/block", &json!({"userId": ana})).expect(200);
    let read =
        |ids: &[&str]| mia.get(&format!("/api/user/relations?userIds={}", ids.join(","))).expect(200).json();
    assert_eq!(
        read(&[&zoe, &ana, &kim, &bo, UNKNOWN, &own, &kim]),
        json!({"following": [kim, bo], "followedBy": [zoe, kim], "blocked": [ana]})
    );
    assert_eq!(read(&[&zoe]), json!({"following": [], "followedBy": [zoe], "blocked": []}));
    // A fan who blocks the reader cannot be distinguished from one without a relation.
    others[0].post("/api/user/block", &json!({"userId": own})).expect(200);
    assert_eq!(read(&[&bo, UNKNOWN]), json!({"following": [], "followedBy": [], "blocked": []}));
    for name in ["kim", "ana"] {
        let suspend = SuspendAccount { username: name.to_owned() };
        service.run(service.app().execute(suspend)).expect("an account");
    }
    assert_eq!(read(&[&kim, &ana, &zoe]), json!({"following": [], "followedBy": [zoe], "blocked": []}));

    let path = "/api/user/relations";
    service.client().get(&format!("{path}?userIds={bo}")).problem(401, "authentication_required");
    let many = vec![UNKNOWN; 101].join(",");
    let answer = mia.get(&format!("{path}?userIds={many}")).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/userIds"]);
    mia.get(&format!("{path}?userIds={}", vec![UNKNOWN; 100].join(","))).expect(200);
    for query in
        ["", "?userIds=", "?userIds=mia", &format!("?userIds={bo},"), &format!("?userIds={bo}&userIds={kim}")]
    {
        mia.get(&format!("{path}{query}")).problem(400, "invalid_request");
    }
    Ok(())
}
