//! Spec §5: every route of the document, requested by every kind of client that may not use it: each request
//! is answered as docs/http-api.md says, nothing is written, and no data of other users is shown.

use super::super::pictures::png;
use super::super::sample::{Operation, Sample, keyed};
use super::super::security_headers::has_security_headers;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, Request, on_each_database};

on_each_database! {
    every_route_refuses_unauthorised_requests_as_documented,
    private_resources_are_refused_to_others_on_every_route,
}

/// Longer than any session lasts.
const PAST_EVERY_SESSION: Duration = Duration::from_hours(91 * 24);
const EVIL: &str = "https://evil.example";

/// The kind of client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visitor {
    /// No credentials.
    Anonymous,
    /// A cookie whose session has ended.
    ExpiredCookie,
    /// An access token that has expired.
    ExpiredBearer,
    /// The owner's own browser, on another site's page.
    OtherSite,
    /// The owner's access token, in the cookie.
    BearerInCookie,
    /// The owner's cookie, as a bearer token.
    CookieAsBearer,
    /// The owner's refresh token, as a bearer token.
    RefreshAsBearer,
}

const VISITORS: [Visitor; 7] = [
    Visitor::Anonymous,
    Visitor::ExpiredCookie,
    Visitor::ExpiredBearer,
    Visitor::OtherSite,
    Visitor::BearerInCookie,
    Visitor::CookieAsBearer,
    Visitor::RefreshAsBearer,
];

impl Visitor {
    /// The documented refusal of an operation; `None` where it is public.
    fn refusal(self, operation: &Operation) -> Option<(u16, &'static str)> {
        let writes = operation.method != "GET";
        if operation.is_signed() {
            return None;
        }
        match self {
            Self::OtherSite if writes => Some((403, "cross_site_request")),
            Self::OtherSite => None,
            Self::ExpiredBearer | Self::CookieAsBearer | Self::RefreshAsBearer => {
                (!operation.ignores_credentials()).then_some((401, "invalid_token"))
            }
            Self::Anonymous | Self::ExpiredCookie | Self::BearerInCookie => {
                operation.is_protected().then_some((401, "authentication_required"))
            }
        }
    }
}

struct Credentials {
    expired_cookie: String,
    expired_access: String,
    cookie: String,
    access: String,
    refresh: String,
}

impl Credentials {
    /// The credentials of a fan whose sessions have expired, and of the sample's owner, who signs in again.
    fn collect(sample: &Sample) -> Result<Self> {
        let gone = sample.service.fan("gone");
        let (expired_access, _) = pair(sample, "gone");
        sample.service.clock().advance(PAST_EVERY_SESSION);
        for (client, name) in [(&sample.mia, "mia"), (&sample.bo, "bo_")] {
            client.login(name);
        }
        let (access, refresh) = pair(sample, "mia");
        Ok(Self {
            expired_cookie: gone.cookie("session").context("no cookie")?,
            expired_access,
            cookie: sample.mia.cookie("session").context("no cookie")?,
            access,
            refresh,
        })
    }

    fn client(&self, sample: &Sample, visitor: Visitor) -> Client {
        let anonymous = sample.service.client();
        match visitor {
            Visitor::Anonymous => anonymous,
            Visitor::ExpiredCookie => anonymous.with_cookie("session", &self.expired_cookie),
            Visitor::ExpiredBearer => anonymous.with_bearer(&self.expired_access),
            Visitor::OtherSite => anonymous.with_cookie("session", &self.cookie),
            Visitor::BearerInCookie => anonymous.with_cookie("session", &self.access),
            Visitor::CookieAsBearer => anonymous.with_bearer(&self.cookie),
            Visitor::RefreshAsBearer => anonymous.with_bearer(&self.refresh),
        }
    }
}

/// The tokens of a native client that signs in.
fn pair(sample: &Sample, name: &str) -> (String, String) {
    let login = json!({"username": name, "password": PASSWORD});
    let pair = sample.service.client().post("/api/mobile-auth/login", &login).expect(200);
    (pair.str_at("/accessToken"), pair.str_at("/refreshToken"))
}

fn every_route_refuses_unauthorised_requests_as_documented(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let credentials = Credentials::collect(&sample)?;
    let before = sample.dump();
    println!("{kind:?}: what is answered to {VISITORS:?}");
    let (operations, mut refusals) = (sample.operations(), 0);
    for operation in &operations {
        let target = sample.target_with(operation, "");
        let mut line = String::new();
        for visitor in VISITORS {
            let refusal = visitor.refusal(operation);
            // Public writes have their own tests.
            if refusal.is_none() && operation.method != "GET" {
                line += "      -";
                continue;
            }
            let client = credentials.client(&sample, visitor);
            let mut request = sample.good(&client, operation, &target);
            if visitor == Visitor::OtherSite {
                request = request.header("origin", EVIL).header("sec-fetch-site", "cross-site");
            }
            let answer = request.send();
            let shown = format!("{} {} as {visitor:?}", operation.method, operation.template);
            has_security_headers(&shown, &answer);
            assert_eq!(answer.header("access-control-allow-origin"), None, "{shown}");
            match refusal {
                Some((status, code)) => {
                    refusals += 1;
                    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{shown}");
                    assert!(
                        answer.headers("set-cookie").iter().all(|set| set.contains("Max-Age=0")),
                        "{shown}"
                    );
                }
                None => reads_as_anonymous(&sample, operation, &target, visitor, &answer),
            }
            write!(line, "{:>7}", answer.status)?;
        }
        println!("{line}  {} {}", operation.method, operation.template);
    }
    assert_eq!(sample.dump(), before, "something was written");
    println!("{kind:?}: {} routes, {refusals} refusals as documented", operations.len());
    assert!(refusals > 3 * operations.len(), "{refusals}");
    Ok(())
}

/// A read that needs no session is answered to bad cookies as without credentials, and to the owner as the
/// owner.
fn reads_as_anonymous(
    sample: &Sample,
    operation: &Operation,
    target: &str,
    visitor: Visitor,
    answer: &Answer,
) {
    let shown = format!("{} {target} as {visitor:?}", operation.method);
    let (anonymous, owner) = (sample.service.client(), sample.mia.fork());
    let as_client = if visitor == Visitor::OtherSite { owner } else { anonymous };
    let expected = sample.good(&as_client, operation, target).send();
    assert_eq!(answer.status, expected.status, "{shown}");
    assert!(answer.status < 500, "{shown}");
    let is_json = answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    if is_json && operation.method == "GET" {
        assert_eq!(steady(answer), steady(&expected), "{shown}");
    }
}

/// The part of an answer that stays the same while nothing changes.
fn steady(answer: &Answer) -> Value {
    let mut body = answer.json();
    if let Some(fields) = body.as_object_mut() {
        // Ids of requests, positions of a log that sign-ins of others advance, and the time.
        for field in ["requestId", "streamPosition", "version", "exportedAt", "serverNow"] {
            fields.remove(field);
        }
    }
    body
}

/// The answer to another fan: a status, a code, and the body to send where the sample's is not accepted.
type Refused = (u16, &'static str, Option<Value>);

/// Resources that belong to one fan, and the answer to another fan who requests them.
fn others(sample: &Sample) -> BTreeMap<&'static str, Refused> {
    let copy = sample.mia.get("/api/user/packs").expect(200).str_at("/packs/0/id");
    let picture = sample.mia.ask("POST", "/api/media").body("image/png", png(11));
    let media = picture.send().expect(201).str_at("/mediaId");
    BTreeMap::from([
        ("deletePost", (403, "forbidden", None)),
        ("deleteComment", (403, "forbidden", None)),
        ("editPost", (403, "forbidden", None)),
        ("editComment", (403, "forbidden", None)),
        ("endSession", (404, "not_found", None)),
        ("getPurchase", (404, "not_found", None)),
        ("cancelPurchase", (404, "not_found", None)),
        ("completePurchase", (404, "not_found", None)),
        ("getOrder", (404, "not_found", None)),
        ("readWallet", (404, "not_found", None)),
        ("cancelOrder", (404, "not_found", None)),
        ("reorder", (404, "not_found", None)),
        ("getClaim", (404, "not_found", None)),
        ("useClaim", (404, "not_found", None)),
        ("completeOrder", (404, "not_found", None)),
        ("openPack", (404, "not_found", Some(json!({"userPackId": copy})))),
        ("createPost", (422, "validation_failed", Some(json!({"body": "Mine.", "mediaId": media})))),
    ])
}

/// Ids in a path whose resource any fan may address: the operations on it are not the owner's alone.
const PUBLIC: &[&str] = &[
    "answerQuestion",
    "claimReward",
    "createComment",
    "dismissRecommended",
    "getComment",
    "getCollectiblePicture",
    "getContentPicture",
    "getCrest",
    "getLeague",
    "getMedia",
    "getPack",
    "getPackPicture",
    "getPost",
    "getProduct",
    "getPublicProfile",
    "getPublicProfileByName",
    "getQuest",
    "getReward",
    "getRound",
    "getTeam",
    "getWheel",
    "joinRound",
    "likeComment",
    "listCollectiblesOf",
    "listComments",
    "listPostsOf",
    "nextQuestion",
    "proveRound",
    "purchasePack",
    "putCartLine",
    "react",
    "readStandings",
    "reportComment",
    "reportPost",
    "spinWheel",
    "streamRound",
    "takeReactionBack",
    "unlikeComment",
];

fn private_resources_are_refused_to_others_on_every_route(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let others = others(&sample);
    let names = |client: &Client, path: &str, list: &str| -> BTreeSet<String> {
        let items = client.get(path).expect(200).list(&format!("/{list}"));
        let id = |item: &Value| item.get("spin").unwrap_or(item)["id"].as_str().map(str::to_owned);
        items.iter().filter_map(id).collect()
    };
    // Values that may be in no answer but the owner's.
    let mut own = BTreeSet::new();
    for (path, list) in [
        ("/api/user/sessions", "sessions"),
        ("/api/user/points", "history"),
        ("/api/user/packs", "packs"),
        ("/api/user/purchases", "purchases"),
        ("/api/user/collectibles", "collectibles"),
        ("/api/user/orders", "orders"),
        ("/api/user/rewards", "claims"),
        ("/api/user/spins", "spins"),
        ("/api/wallets", "wallets"),
    ] {
        let found = names(&sample.mia, path, list);
        assert!(!found.is_empty(), "{path} shows nothing");
        own.extend(found);
    }
    // A collection is public unless its owner hides it.
    let collection = names(&sample.mia, "/api/user/collectibles", "collectibles");
    let before = sample.dump();
    for operation in sample.operations() {
        let target = sample.target_with(&operation, "");
        let shown = format!("{} {}", operation.method, operation.template);
        let is_private = |id: &String| operation.id != "listCollectiblesOf" || !collection.contains(id);
        if let Some((status, code, body)) = others.get(operation.id.as_str()) {
            let ask = |request: Request<'_>| match body {
                Some(body) => request.json(body).send(),
                None if operation.has_body() => request.json(&sample.body(&operation.id)).send(),
                None => request.send(),
            };
            let request = sample.bo.ask(&operation.method, &target);
            let answer = ask(keyed(request, &operation));
            assert_eq!((answer.status, answer.code().as_str()), (*status, *code), "{shown}");
            println!("{status} {code:<20} {shown}");
        } else {
            let is_public = PUBLIC.contains(&operation.id.as_str());
            assert!(is_public || !operation.template.contains('{'), "{shown}: whose is it?");
        }
        if operation.method != "GET" || operation.is_of_timers() {
            continue;
        }
        for client in [&sample.bo, &sample.service.client()] {
            let answer = client.get(&target);
            let text = answer.text();
            // Values of their own request are repeated to them.
            let leaked: Vec<_> = own
                .iter()
                .filter(|id| is_private(id) && text.contains(*id) && !target.contains(*id))
                .collect();
            assert!(leaked.is_empty(), "{shown} shows {leaked:?} to another fan");
        }
    }
    assert_eq!(sample.dump(), before, "something was written");
    Ok(())
}
