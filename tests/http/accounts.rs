//! The contract under "Accounts" (spec §5): registration, profiles, passwords, devices.

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::identity::Password;
use terrace_testkit::{DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    registering_gives_an_account_a_cookie_and_an_address,
    a_name_is_registered_once_whatever_its_spelling,
    names_that_mislead_are_refused,
    signing_in_does_not_reveal_which_names_exist,
    a_native_client_gets_a_pair_and_exchanges_it,
    a_refresh_token_used_twice_ends_its_family,
    the_own_profile_is_read_and_changed,
    a_profile_change_is_whole_or_not_at_all,
    others_see_a_public_profile,
    a_password_is_changed_with_the_old_one,
    weak_passwords_cannot_be_chosen,
    devices_are_listed_and_signed_out,
}

fn registering_gives_an_account_a_cookie_and_an_address(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let body = json!({
        "username": "Mia", "password": PASSWORD, "displayName": " Mia Carter ", "timeZone": "Europe/Lisbon",
    });
    let answer = client.post("/api/register", &body).expect(201);
    let user = json!({"id": "[id]", "username": "Mia", "displayName": "Mia Carter", "pictureUrl": null});
    assert_eq!(shape(&answer), json!({"user": user}));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));

    let id = answer.str_at("/user/id");
    assert_eq!(answer.header("location"), Some(format!("/api/users/{id}").as_str()));
    assert_eq!(service.client().get(&format!("/api/users/{id}")).expect(200).at("/username"), "Mia");
    let own = client.get("/api/user").expect(200);
    assert_eq!((own.at("/id"), own.at("/timeZone")), (json!(id), json!("Europe/Lisbon")));

    let short = service.client().post("/api/register", &json!({"username": "bo_", "password": PASSWORD}));
    assert_eq!(short.expect(201).at("/user/displayName"), "bo_");
    Ok(())
}

fn a_name_is_registered_once_whatever_its_spelling(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("Straße");
    for name in ["Straße", "STRASSE", "strasse", "Ｓtraße"] {
        let answer = service.client().post("/api/register", &json!({"username": name, "password": PASSWORD}));
        let answer = answer.problem(409, "username_taken");
        assert!(answer.headers("set-cookie").is_empty());
        service.client().login(name);
    }
    Ok(())
}

/// A look-alike of a name counts as that name and is taken; mixed scripts and stacked combining marks are
/// invalid.
fn names_that_mislead_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fan = service.fan("pace");
    let register =
        |name: &str| service.client().post("/api/register", &json!({"username": name, "password": PASSWORD}));
    for taken in ["\u{440}\u{430}\u{441}\u{435}", "Admin"] {
        register(taken).problem(409, "username_taken");
    }
    for invalid in ["p\u{430}ce", "q\u{301}\u{302}\u{303}q"] {
        assert_eq!(
            register(invalid).problem(422, "validation_failed").pointers(),
            ["/username"],
            "{invalid}"
        );
    }
    let pile = json!({"displayName": "q\u{301}\u{302}\u{303}q"});
    let answer = fan.patch("/api/user", &pile);
    assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/displayName"]);
    Ok(())
}

fn signing_in_does_not_reveal_which_names_exist(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    let client = service.client();
    let answer = client.login("MIA");
    let user = json!({"id": "[id]", "username": "mia", "displayName": "mia", "pictureUrl": null});
    assert_eq!(shape(&answer), json!({"user": user}));
    assert_eq!(client.get("/api/user").expect(200).at("/username"), "mia");

    let refused = |name: &str, password: &str| {
        let body = json!({"username": name, "password": password});
        let mut answers = Vec::new();
        for path in ["/api/login", "/api/mobile-auth/login"] {
            let answer = service.client().post(path, &body).problem(401, "invalid_credentials");
            assert!(answer.headers("set-cookie").is_empty());
            answers.push((answer.at("/title"), answer.at("/detail"), answer.at("/errors")));
        }
        answers
    };
    let expected = refused("mia", "not the password");
    for (name, password) in [
        ("nobody", PASSWORD),
        ("mia", ""),
        ("mia", &PASSWORD.repeat(100)),
        ("", ""),
        ("no such name, nor could it be", PASSWORD),
        (&"m".repeat(10_000), PASSWORD),
        ("mia\0", PASSWORD),
    ] {
        assert_eq!(refused(name, password), expected, "{name:?}");
    }
    Ok(())
}

fn a_native_client_gets_a_pair_and_exchanges_it(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    let client = service.client();
    let body = json!({"username": "mia", "password": PASSWORD, "deviceName": "Mia's phone"});
    let first = client.post("/api/mobile-auth/login", &body).expect(200);
    let user = json!({"id": "[id]", "username": "mia", "displayName": "mia", "pictureUrl": null});
    let pair = json!({
        "accessToken": "[token]", "refreshToken": "[token]", "tokenType": "Bearer", "expiresIn": 900, "user": user,
    });
    assert_eq!(shape(&first), pair);
    assert!(first.headers("set-cookie").is_empty(), "a native client keeps no cookies");
    assert_eq!(first.header("cache-control"), Some("no-store"));

    let refresh = json!({"refreshToken": first.str_at("/refreshToken")});
    let second = client.post("/api/mobile-auth/refresh", &refresh).expect(200);
    assert_eq!(shape(&second), pair);
    assert_ne!(second.str_at("/accessToken"), first.str_at("/accessToken"));
    let phone = client.with_bearer(&second.str_at("/accessToken"));
    assert_eq!(phone.get("/api/user").expect(200).at("/username"), "mia");
    assert_eq!(phone.get("/api/user/sessions").expect(200).at("/sessions/0/deviceName"), "Mia's phone");

    phone.ask("POST", "/api/mobile-auth/logout").send().expect(204);
    phone.get("/api/user").problem(401, "invalid_token");
    let refresh = json!({"refreshToken": second.str_at("/refreshToken")});
    client.post("/api/mobile-auth/refresh", &refresh).problem(401, "invalid_token");
    Ok(())
}

fn a_refresh_token_used_twice_ends_its_family(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let browser = service.fan("mia");
    let client = service.client();
    let login = json!({"username": "mia", "password": PASSWORD});
    let first = client.post("/api/mobile-auth/login", &login).expect(200);
    let other = client.mobile_login("mia");
    let refresh = |token: String| client.post("/api/mobile-auth/refresh", &json!({"refreshToken": token}));
    let second = refresh(first.str_at("/refreshToken")).expect(200);
    refresh(first.str_at("/refreshToken")).problem(401, "token_reused");
    client.with_bearer(&second.str_at("/accessToken")).get("/api/user").problem(401, "invalid_token");
    let after = refresh(second.str_at("/refreshToken")).expect(401);
    assert!(["invalid_token", "token_reused"].contains(&after.code().as_str()));
    // Other devices are separate families.
    other.get("/api/user").expect(200);
    browser.get("/api/user").expect(200);
    refresh("tsr_made-up".into()).problem(401, "invalid_token");
    Ok(())
}

fn the_own_profile_is_read_and_changed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let answer = mia.get("/api/user").expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let mut expected = json!({
        "id": "[id]", "username": "mia", "displayName": "mia", "bio": "", "pictureUrl": null, "favoriteTeam": null,
        "timeZone": "UTC", "leaderboardVisible": true, "collectionVisible": true, "followerCount": 0,
        "followingCount": 0, "points": 0, "role": "fan", "balances": {"points": 0, "coins": 0},
        "level": {"number": 1, "name": "Newcomer", "from": 0, "next": 100}, "createdAt": "[time]",
        "unreadNotifications": 0,
    });
    assert_eq!(shape(&answer), expected);

    let team = mia.get("/api/teams?limit=1").expect(200).str_at("/teams/0/id");
    let change = json!({
        "displayName": "Mia Carter", "bio": "North bank.\r\nRow 14.", "timeZone": "America/Sao_Paulo",
        "favoriteTeamId": team, "leaderboardVisible": false, "collectionVisible": false,
    });
    let changed = mia.patch("/api/user", &change).expect(200);
    expected["displayName"] = json!("Mia Carter");
    expected["bio"] = json!("North bank.\nRow 14.");
    expected["timeZone"] = json!("America/Sao_Paulo");
    for name in ["leaderboardVisible", "collectionVisible"] {
        expected[name] = json!(false);
    }
    expected["favoriteTeam"] = json!({
        "id": "[id]", "key": "anchors", "name": "Anchors of the Bay", "shortName": "Anchors", "leagueId": "[id]",
        "colors": ["#003366", "#ffffff"], "crestUrl": "/content/crests/anchors-003366-ffffff.svg", "followerCount": 0,
    });
    assert_eq!(shape(&changed), expected);
    assert_eq!(mia.get("/api/user").expect(200).json(), changed.json());

    // A missing field is unchanged; null removes the team, and "" the biography.
    assert_eq!(mia.patch("/api/user", &json!({})).expect(200).json(), changed.json());
    let without = mia.patch("/api/user", &json!({"favoriteTeamId": null, "bio": ""})).expect(200);
    assert_eq!((without.at("/favoriteTeam"), without.at("/bio")), (Value::Null, json!("")));
    assert_eq!(without.at("/displayName"), "Mia Carter");
    Ok(())
}

fn a_profile_change_is_whole_or_not_at_all(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let before = mia.get("/api/user").expect(200).json();
    let change = json!({"displayName": "", "bio": "x".repeat(501), "timeZone": "Mars/Olympus"});
    let answer = mia.patch("/api/user", &change).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/displayName", "/bio", "/timeZone"]);
    let no_team = json!({"bio": "fine", "favoriteTeamId": "0190a6f2-7c1e-7abc-8def-0123456789ab"});
    let answer = mia.patch("/api/user", &no_team).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/favoriteTeamId"]);
    assert_eq!(mia.get("/api/user").expect(200).json(), before);
    Ok(())
}

fn others_see_a_public_profile(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    let id = mia.register("mia");
    mia.patch("/api/user", &json!({"bio": "Row 14.", "timeZone": "Europe/Lisbon"})).expect(200);
    let answer = service.client().get(&format!("/api/users/{id}")).expect(200);
    let expected = json!({
        "id": "[id]", "username": "mia", "displayName": "mia", "bio": "Row 14.", "pictureUrl": null,
        "favoriteTeam": null, "followerCount": 0, "followingCount": 0, "following": false, "followsYou": false,
        "points": null, "rank": null, "level": null, "achievements": [], "createdAt": "[time]",
    });
    assert_eq!(shape(&answer), expected, "neither zone nor balances nor role");
    Ok(())
}

fn a_password_is_changed_with_the_old_one(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (laptop, phone) = (service.client(), service.client().mobile_login("mia"));
    laptop.login("mia");
    let change = |current: &str, new: &str| {
        mia.put("/api/user/password", &json!({"currentPassword": current, "newPassword": new}))
    };
    change("not the password", "a new password").problem(403, "wrong_password");
    let answer = change(PASSWORD, "short").problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/newPassword"]);
    laptop.get("/api/user").expect(200);

    change(PASSWORD, "a new password").expect(204);
    mia.get("/api/user").expect(200);
    laptop.get("/api/user").problem(401, "authentication_required");
    phone.get("/api/user").problem(401, "invalid_token");
    let login = |password: &str| {
        service.client().post("/api/login", &json!({"username": "mia", "password": password})).status
    };
    assert_eq!((login(PASSWORD), login("a new password")), (401, 200));
    Ok(())
}

/// NIST SP 800-63B, section 5.1.1.2. A password that was chosen before the rule still signs in.
fn weak_passwords_cannot_be_chosen(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia.carter");
    for weak in
        ["Password1", "iloveyou", "87654321", "qwertyuiop", "abcabcabc", "Mia.Carter", "mia.carter2026!"]
    {
        let register = json!({"username": "Mia.Carter", "password": weak});
        let change = json!({"currentPassword": PASSWORD, "newPassword": weak});
        for (answer, pointer) in [
            (service.client().post("/api/register", &register), "/password"),
            (mia.put("/api/user/password", &change), "/newPassword"),
        ] {
            let answer = answer.problem(422, "validation_failed");
            assert_eq!(answer.pointers(), [pointer], "{weak}");
            assert!(answer.str_at("/detail").starts_with("must not be "), "{weak}");
            assert!(!answer.text().contains(weak), "a password is never repeated");
        }
    }
    let login = |password: &str| {
        service.client().post("/api/login", &json!({"username": "mia.carter", "password": password})).status
    };
    assert_eq!(login(PASSWORD), 200);
    let old = Password::offer("Password1".to_owned());
    assert!(service.run(service.app().reset_password("mia.carter", Some(old))).is_ok());
    assert_eq!((login(PASSWORD), login("Password1")), (401, 200));
    Ok(())
}

fn devices_are_listed_and_signed_out(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let laptop = service.client();
    laptop.login("mia");
    let answer = mia.get("/api/user/sessions").expect(200);
    let session = |current: bool| {
        json!({
            "id": "[id]", "kind": "browser", "deviceName": null, "createdAt": "[time]", "lastSeenAt": "[time]",
            "expiresAt": "[time]", "current": current,
        })
    };
    assert_eq!(shape(&answer), json!({"sessions": [session(false), session(true)], "nextCursor": null}));

    let other = answer.str_at("/sessions/0/id");
    let stranger = service.fan("bo_");
    stranger.delete(&format!("/api/user/sessions/{other}")).problem(404, "not_found");
    laptop.get("/api/user").expect(200);
    mia.delete(&format!("/api/user/sessions/{other}")).expect(204);
    laptop.get("/api/user").problem(401, "authentication_required");
    mia.delete(&format!("/api/user/sessions/{other}")).problem(404, "not_found");
    assert_eq!(mia.get("/api/user/sessions").expect(200).list("/sessions").len(), 1);

    for _ in 0..4 {
        service.client().login("mia");
    }
    let first = mia.get("/api/user/sessions?limit=3").expect(200);
    let rest = format!("/api/user/sessions?limit=3&cursor={}", first.str_at("/nextCursor"));
    let rest = mia.get(&rest).expect(200);
    assert_eq!((first.list("/sessions").len(), rest.list("/sessions").len()), (3, 2));
    assert_eq!(rest.at("/nextCursor"), Value::Null);
    let mut ids: Vec<_> = [first.list("/sessions"), rest.list("/sessions")].concat();
    ids.dedup_by_key(|session| session["id"].to_string());
    assert_eq!(ids.len(), 5);
    Ok(())
}
