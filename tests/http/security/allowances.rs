//! The contract under "Rate limits" (spec §8), for passwords and refresh tokens: guessing is bounded, and
//! the requests of one account or one address keep no other out.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;
use terrace_testkit::app::PasswordCost;
use terrace_testkit::web::{ForwardingHeader, LimitConfig, Rate, TrustedProxies};
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    proofs_of_a_password_are_bounded_for_each_account,
    proofs_from_one_address_do_not_hold_up_a_login_from_another,
    junk_refreshes_do_not_affect_known_fans_at_the_address,
}

/// The address that most of these requests come from, and another.
const SHARED: &str = "198.51.100.7";
const ELSEWHERE: &str = "192.0.2.1";
/// Accounts that send proofs at once, and requests of each.
const ACCOUNTS: usize = 10;
const EACH: usize = 4;
/// Concurrent hashes of one address.
const OF_ADDRESS: usize = 8;

fn behind_a_proxy(
    kind: DatabaseKind,
    limits: LimitConfig,
    cost: Option<PasswordCost>,
) -> Result<TestService> {
    let networks = vec!["127.0.0.0/8".parse()?];
    TestService::builder(kind)
        .limits(limits)
        .app(|app| {
            if let Some(cost) = cost {
                (app.password_cost, app.password_workers) = (cost, 1);
            }
        })
        .web(|web| web.trusted_proxies = TrustedProxies { networks, header: ForwardingHeader::XForwardedFor })
        .start()
}

fn send(client: &Client, from: &str, (method, path): (&str, &str), body: &Value) -> Answer {
    client.ask(method, path).header("x-forwarded-for", from).json(body).send()
}

fn named(name: &str) -> Value {
    json!({"username": name, "password": PASSWORD})
}

fn wait(answer: Answer) -> Result<u64> {
    let answer = answer.problem(429, "rate_limited");
    Ok(answer.header("retry-after").context("no Retry-After")?.parse()?)
}

fn proofs_of_a_password_are_bounded_for_each_account(kind: DatabaseKind) -> Result<()> {
    let limits = LimitConfig { password_proof: Rate::new(10, 3600), ..LimitConfig::default() };
    let service = TestService::builder(kind).limits(limits).start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let change = |current: &str| json!({"currentPassword": current, "newPassword": "another password"});
    let delete = |client: &Client, password: &str| {
        client.ask("DELETE", "/api/user").json(&json!({"password": password})).send()
    };
    for n in 0..5 {
        mia.put("/api/user/password", &change(&format!("guess {n}"))).problem(403, "wrong_password");
        delete(&mia, &format!("guess {n}")).problem(403, "wrong_password");
    }
    for _ in 0..60 {
        assert!((1..=3600).contains(&wait(mia.put("/api/user/password", &change(PASSWORD)))?));
        assert!((1..=3600).contains(&wait(delete(&mia, PASSWORD))?));
    }
    mia.get("/api/user").expect(200);
    bo.put("/api/user/password", &change(PASSWORD)).expect(204);
    Ok(())
}

/// Measured by the number of proofs that are answered between a login and its answer: the login waits for the
/// few that are ahead of it, and not for all that were sent.
fn proofs_from_one_address_do_not_hold_up_a_login_from_another(kind: DatabaseKind) -> Result<()> {
    let plenty = Rate::new(1_000_000, 1);
    let limits = LimitConfig {
        register: plenty,
        account_writes: plenty,
        password_proof: plenty,
        ..LimitConfig::default()
    };
    // A hash takes far longer than the rest of a request.
    let service = behind_a_proxy(kind, limits, Some(PasswordCost { memory_kib: 19 * 1024, passes: 8 }))?;
    let register = |name: &str, from: &str| {
        let client = service.client();
        send(&client, from, ("POST", "/api/register"), &named(name)).expect(201);
        client
    };
    register("mia", ELSEWHERE);
    let others: Vec<Client> = (0..ACCOUNTS).map(|n| register(&format!("fan{n}"), SHARED)).collect();
    let (proved, refused, stop) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let guess = json!({"currentPassword": "a wrong guess", "newPassword": "another password"});
    let (tell, answers) = mpsc::channel();
    let hammer = |client: Client, answers: Sender<()>| {
        while !stop.load(Ordering::SeqCst) {
            let answer = send(&client, SHARED, ("PUT", "/api/user/password"), &guess);
            let count = if answer.status == 429 { &refused } else { &proved };
            count.fetch_add(1, Ordering::SeqCst);
            // The receiver may have what it waited for.
            let _ = answers.send(());
        }
    };
    let in_front = thread::scope(|scope| {
        for client in &others {
            for _ in 0..EACH {
                let (client, answers) = (client.fork(), tell.clone());
                scope.spawn(|| hammer(client, answers));
            }
        }
        // Ends the wait below where every client has failed.
        drop(tell);
        // Until they are well under way.
        let answered = || refused.load(Ordering::SeqCst) + proved.load(Ordering::SeqCst);
        while answered() < EACH * ACCOUNTS || proved.load(Ordering::SeqCst) == 0 {
            answers.recv().expect("an answer");
        }
        let before = proved.load(Ordering::SeqCst);
        let answer = send(&service.client(), ELSEWHERE, ("POST", "/api/login"), &named("mia"));
        let in_front = proved.load(Ordering::SeqCst) - before;
        stop.store(true, Ordering::SeqCst);
        answer.expect(200);
        in_front
    });
    assert!(in_front <= 2 * OF_ADDRESS, "{in_front} proofs were answered before the login");
    Ok(())
}

fn junk_refreshes_do_not_affect_known_fans_at_the_address(kind: DatabaseKind) -> Result<()> {
    // A used-up allowance refills once a minute.
    let limits = LimitConfig { login_address: Rate::new(60, 3600), ..LimitConfig::default() };
    let service = behind_a_proxy(kind, limits, None)?;
    let client = service.client();
    for name in ["mia", "bo_"] {
        send(&service.client(), ELSEWHERE, ("POST", "/api/register"), &named(name)).expect(201);
    }
    let login = ("POST", "/api/mobile-auth/login");
    let pair = send(&client, SHARED, login, &named("mia")).expect(200);
    let refresh = |token: &str| {
        send(&client, SHARED, ("POST", "/api/mobile-auth/refresh"), &json!({"refreshToken": token}))
    };
    let (begun, mut invalid, mut refused) = (Instant::now(), 0, 0);
    for n in 0..1000 {
        // Half of them have the form of a token.
        let junk = if n % 2 == 0 { "junk".to_owned() } else { format!("tsr_{n:0>43}") };
        let answer = refresh(&junk);
        if answer.status == 401 {
            invalid += 1;
        } else {
            wait(answer)?;
            refused += 1;
        }
    }
    // The allowance of failures, and what refills of it meanwhile.
    let refilled = begun.elapsed().as_secs() + 1;
    assert!((60..=60 + refilled).contains(&invalid), "{invalid} were looked at, {refused} were refused");
    let next = refresh(&pair.str_at("/refreshToken")).expect(200);
    refresh(&next.str_at("/refreshToken")).expect(200);
    send(&client, SHARED, login, &named("mia")).expect(200);
    send(&service.client(), SHARED, ("POST", "/api/login"), &named("mia")).expect(200);
    // Guessing is not possible elsewhere either: a name that was not seen at this address waits.
    while refresh("junk").status == 401 {}
    wait(send(&service.client(), SHARED, ("POST", "/api/login"), &named("bo_")))?;
    send(&service.client(), ELSEWHERE, ("POST", "/api/login"), &named("bo_")).expect(200);
    Ok(())
}
