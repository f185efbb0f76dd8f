//! What the stand-in for Stripe knows, and how that changes.

#![expect(
    clippy::indexing_slicing,
    reason = "places are those of rows that were found, and no row is removed"
)]

use super::StripeEvent;
use super::http::{Reply, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use terrace_kernel::Clock;

const DAY: i64 = 24 * 60 * 60;
const HALF_AN_HOUR: i64 = 30 * 60;

/// What was moved for a payment, in Stripe's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Movements {
    /// What buyers paid.
    pub paid: i64,
    /// What they have back: refunds that did not fail, and lost disputes.
    pub returned: i64,
    /// How many sessions were paid.
    pub payments: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionState {
    Open,
    Complete,
    Expired,
}

struct Session {
    id: String,
    reference: String,
    amount: i64,
    currency: String,
    expires_at: i64,
    state: SessionState,
    intent: Option<String>,
    disputes: Vec<Dispute>,
}

struct Dispute {
    id: String,
    amount: i64,
    /// `None` while it is open.
    is_lost: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RefundState {
    Pending,
    Succeeded,
    Failed,
}

struct Refund {
    id: String,
    intent: String,
    amount: i64,
    currency: String,
    state: RefundState,
    metadata: BTreeMap<String, String>,
}

struct Stored {
    at: i64,
    request: String,
    reply: Reply,
}

/// The state of the account.
pub(super) struct Book {
    pub(super) clock: Arc<dyn Clock>,
    sessions: Vec<Session>,
    refunds: Vec<Refund>,
    stored: HashMap<String, Stored>,
    pub(super) events: Vec<StripeEvent>,
    pub(super) requests: Vec<String>,
    pub(super) keys: Vec<String>,
    pub(super) last_checkout: Vec<(String, String)>,
    pub(super) failing: u32,
    pub(super) dice: u64,
    pub(super) next_fault: Option<StripeFault>,
    pub(super) is_wrong: bool,
    pub(super) is_slow: bool,
    pub(super) garbage: Option<StripeGarbage>,
    count: u64,
}

/// A body that is not what was asked for, with the status 200, as of a proxy between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripeGarbage {
    /// A page in HTML.
    Page,
    /// The first half of the right body.
    Cut,
    /// The right body, and two megabytes behind it.
    Large,
    /// JSON of another shape.
    Other,
}

impl StripeGarbage {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Page, Self::Cut, Self::Large, Self::Other];

    fn in_place_of(self, right: &str) -> Reply {
        let body = match self {
            Self::Page => "<!doctype html><title>Welcome</title><h1>It works!</h1>".to_owned(),
            Self::Cut => right.chars().take(right.chars().count() / 2).collect(),
            Self::Large => format!("{right}{}", " ".repeat(2 << 20)),
            Self::Other => "[{\"id\": 1}]".to_owned(),
        };
        Reply { status: 200, body }
    }
}

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripeFault {
    /// With an answer that is stored under the request's key, after the change was made or without it.
    Stored {
        /// Whether the change was made.
        after: bool,
    },
    /// The connection ends, after the change was made or without it.
    Lost {
        /// Whether the change was made.
        after: bool,
    },
    /// Too many requests, or another one of the same key: nothing is stored.
    Busy(u16),
}

fn error(status: u16, kind: &str, code: &str) -> Reply {
    Reply { status, body: json!({"error": {"type": kind, "code": code, "message": "no"}}).to_string() }
}

fn invalid(code: &str) -> Reply {
    error(400, "invalid_request_error", code)
}

fn ok(body: &Value) -> Reply {
    Reply { status: 200, body: body.to_string() }
}

impl Book {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            sessions: Vec::new(),
            refunds: Vec::new(),
            stored: HashMap::new(),
            events: Vec::new(),
            requests: Vec::new(),
            keys: Vec::new(),
            last_checkout: Vec::new(),
            failing: 0,
            dice: 1,
            next_fault: None,
            is_wrong: false,
            is_slow: false,
            garbage: None,
            count: 0,
        }
    }

    fn now(&self) -> i64 {
        self.clock.now().as_micros().div_euclid(1_000_000)
    }

    fn id(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}_test_{:08}", self.count)
    }

    fn roll(&mut self, below: u64) -> u64 {
        // xorshift64*
        self.dice ^= self.dice >> 12;
        self.dice ^= self.dice << 25;
        self.dice ^= self.dice >> 27;
        (self.dice.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    }

    fn fault(&mut self, is_write: bool) -> Option<StripeFault> {
        if is_write && let Some(fault) = self.next_fault.take() {
            return Some(fault);
        }
        if self.failing == 0 || self.roll(100) >= u64::from(self.failing) {
            return None;
        }
        Some(match self.roll(6) {
            0 => StripeFault::Stored { after: false },
            1 => StripeFault::Stored { after: true },
            2 => StripeFault::Lost { after: false },
            3 | 4 => StripeFault::Lost { after: true },
            _ => StripeFault::Busy(if self.roll(2) == 0 { 429 } else { 409 }),
        })
    }

    /// The answer; `None` if the connection ends without one.
    pub(super) fn answer(&mut self, request: &Request) -> Option<Reply> {
        let reply = self.reply(request)?;
        Some(match self.garbage {
            Some(garbage) => garbage.in_place_of(&reply.body),
            None => reply,
        })
    }

    fn reply(&mut self, request: &Request) -> Option<Reply> {
        self.requests.push(format!("{} {}", request.method, request.path));
        if request.authorization != format!("Bearer {}", super::StripeStandIn::KEY) {
            return Some(error(401, "invalid_request_error", "invalid_api_key"));
        }
        let now = self.now();
        self.stored.retain(|_, stored| now < stored.at + DAY);
        let sent = format!("{} {}", request.path, request.body);
        if let Some(key) = &request.key {
            self.keys.push(key.clone());
            if let Some(stored) = self.stored.get(key) {
                let is_same = stored.request == sent;
                return Some(if is_same {
                    stored.reply.clone()
                } else {
                    error(400, "idempotency_error", "")
                });
            }
        }
        let failure = Reply { status: 500, body: json!({"error": {"type": "api_error"}}).to_string() };
        let fault = self.fault(request.method == "POST");
        let (reply, is_lost) = match fault {
            None => (self.carry_out(request), false),
            Some(StripeFault::Busy(status)) => {
                return Some(error(status, "invalid_request_error", "lock_timeout"));
            }
            Some(StripeFault::Lost { after: false }) => return None,
            Some(StripeFault::Lost { after: true }) => (self.carry_out(request), true),
            Some(StripeFault::Stored { after }) => {
                if after {
                    self.carry_out(request);
                }
                (failure, false)
            }
        };
        if let Some(key) = &request.key {
            let stored = Stored { at: now, request: sent, reply: reply.clone() };
            self.stored.insert(key.clone(), stored);
        }
        (!is_lost).then_some(reply)
    }

    fn carry_out(&mut self, request: &Request) -> Reply {
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["v1", "checkout", "sessions"]) => self.create(request),
            ("GET", ["v1", "checkout", "sessions"]) => {
                let intent = request.field("payment_intent").map(str::to_owned);
                let found = self.sessions.iter().filter(|one| one.intent.is_some() && one.intent == intent);
                ok(&json!({"data": found.map(|one| self.session(one)).collect::<Vec<_>>()}))
            }
            ("GET", ["v1", "checkout", "sessions", id]) => {
                match self.sessions.iter().find(|one| one.id == *id) {
                    Some(session) => ok(&self.session(session)),
                    None => error(404, "invalid_request_error", "resource_missing"),
                }
            }
            ("POST", ["v1", "checkout", "sessions", id, "expire"]) => self.expire(id),
            ("POST", ["v1", "refunds"]) => self.refund(request),
            ("GET", ["v1", "refunds"]) => {
                let intent = request.field("payment_intent").unwrap_or_default();
                let found = self.refunds.iter().filter(|one| one.intent == intent).map(refund_object);
                ok(&json!({"data": found.collect::<Vec<_>>()}))
            }
            ("GET", ["v1", "refunds", id]) => match self.refunds.iter().find(|one| one.id == *id) {
                Some(refund) => ok(&refund_object(refund)),
                None => error(404, "invalid_request_error", "resource_missing"),
            },
            _ => error(404, "invalid_request_error", "url_invalid"),
        }
    }

    fn create(&mut self, request: &Request) -> Reply {
        self.last_checkout.clone_from(&request.form);
        let field = |name: &str| request.field(name).unwrap_or_default().to_owned();
        let number = |name: &str| field(name).parse::<i64>().unwrap_or(-1);
        let currency = field("line_items[0][price_data][currency]");
        let mut amount = 0;
        for nth in 0.. {
            let unit = format!("line_items[{nth}][price_data][unit_amount]");
            if request.field(&unit).is_none() {
                break;
            }
            let name = format!("line_items[{nth}][price_data][product_data][name]");
            let of_line = format!("line_items[{nth}][price_data][currency]");
            if field(&name).is_empty() || field(&of_line) != currency || number(&unit) < 0 {
                return invalid("parameter_invalid_integer");
            }
            amount += number(&unit) * number(&format!("line_items[{nth}][quantity]"));
        }
        let step = match currency.as_str() {
            "isk" | "ugx" => 100,
            "bhd" | "jod" | "kwd" | "omr" | "tnd" => 10,
            _ => 1,
        };
        let (ahead, now) = (number("expires_at") - self.now(), self.now());
        if field("mode") != "payment" || amount < 1 || amount % step != 0 {
            return invalid("amount_too_small");
        }
        if !(HALF_AN_HOUR..=DAY).contains(&ahead) || !field("success_url").starts_with("http") {
            return invalid("parameter_invalid");
        }
        let session = Session {
            id: self.id("cs"),
            reference: field("client_reference_id"),
            amount: amount + i64::from(std::mem::take(&mut self.is_wrong)),
            currency,
            expires_at: now + ahead,
            state: SessionState::Open,
            intent: None,
            disputes: Vec::new(),
        };
        let reply = ok(&self.session(&session));
        self.sessions.push(session);
        reply
    }

    fn refunded(&self, intent: &str) -> i64 {
        let kept = |refund: &&Refund| refund.intent == intent && refund.state != RefundState::Failed;
        self.refunds.iter().filter(kept).map(|refund| refund.amount).sum()
    }

    fn charge(&self, session: &Session) -> Value {
        let intent = session.intent.clone().unwrap_or_default();
        let refunded = self.refunded(&intent);
        json!({
            "id": format!("ch_{}", session.id), "object": "charge", "amount": session.amount, "currency": session.currency,
            "amount_refunded": refunded, "refunded": refunded == session.amount, "payment_intent": intent,
            "disputed": !session.disputes.is_empty(), "metadata": {"payable": session.reference},
        })
    }

    fn session(&self, session: &Session) -> Value {
        let is_over = session.state == SessionState::Open && session.expires_at <= self.now();
        let (status, payment) = match session.state {
            SessionState::Open if is_over => ("expired", "unpaid"),
            SessionState::Open => ("open", "unpaid"),
            SessionState::Complete => ("complete", "paid"),
            SessionState::Expired => ("expired", "unpaid"),
        };
        let intent = session.intent.as_ref().map(|id| {
            json!({"id": id, "object": "payment_intent", "status": "succeeded", "latest_charge": self.charge(session)})
        });
        json!({
            "id": session.id, "object": "checkout.session", "mode": "payment", "livemode": false, "status": status,
            "payment_status": payment, "amount_total": session.amount, "currency": session.currency,
            "client_reference_id": session.reference, "payment_intent": intent, "expires_at": session.expires_at,
            "url": (status == "open").then(|| url(&session.id)),
        })
    }

    fn place(&self, of: &str) -> Option<usize> {
        self.sessions.iter().position(|session| url(&session.id) == of)
    }

    fn happened(&mut self, kind: &str, mut object: Value) {
        // In events, objects name the intent by its id.
        if let Some(id) = object.pointer("/payment_intent/id").cloned() {
            object["payment_intent"] = id;
        }
        let id = self.id("evt");
        let event = json!({
            "id": id, "object": "event", "type": kind, "created": self.now(), "livemode": false,
            "data": {"object": object},
        });
        self.events.push(StripeEvent { body: event.to_string().into_bytes() });
    }

    fn close(&mut self, place: usize) {
        self.sessions[place].state = SessionState::Expired;
        let object = self.session(&self.sessions[place]);
        self.happened("checkout.session.expired", object);
    }

    fn expire(&mut self, id: &str) -> Reply {
        let Some(place) = self.sessions.iter().position(|session| session.id == id) else {
            return error(404, "invalid_request_error", "resource_missing");
        };
        if self.sessions[place].state != SessionState::Open {
            return invalid("");
        }
        self.close(place);
        ok(&self.session(&self.sessions[place]))
    }

    pub(super) fn expire_sessions(&mut self) {
        for place in 0..self.sessions.len() {
            let session = &self.sessions[place];
            if session.state == SessionState::Open && session.expires_at <= self.now() {
                self.close(place);
            }
        }
    }

    pub(super) fn pay(&mut self, url: &str) -> bool {
        let now = self.now();
        let Some(place) = self.place(url) else { return false };
        let session = &self.sessions[place];
        if session.state != SessionState::Open || session.expires_at <= now {
            return false;
        }
        let intent = self.id("pi");
        self.sessions[place].state = SessionState::Complete;
        self.sessions[place].intent = Some(intent);
        let object = self.session(&self.sessions[place]);
        // Of a kind that the service does not know.
        self.happened("payment_intent.succeeded", json!({"object": "payment_intent"}));
        self.happened("checkout.session.completed", object);
        true
    }

    fn refund(&mut self, request: &Request) -> Reply {
        let intent = request.field("payment_intent").unwrap_or_default().to_owned();
        let Some(session) = self.sessions.iter().find(|one| one.intent.as_ref() == Some(&intent)) else {
            return invalid("resource_missing");
        };
        if session.disputes.iter().any(|dispute| dispute.is_lost != Some(false)) {
            return invalid("charge_disputed");
        }
        let left = session.amount - self.refunded(&intent);
        let amount = request.field("amount").and_then(|amount| amount.parse().ok()).unwrap_or(left);
        if left == 0 {
            return invalid("charge_already_refunded");
        }
        if amount < 1 || amount > left {
            return invalid("");
        }
        let metadata = request.form.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
            Some((name.to_owned(), value.clone()))
        });
        let place = self.make_refund(&intent, amount, metadata.collect());
        ok(&refund_object(&self.refunds[place]))
    }

    fn make_refund(&mut self, intent: &str, amount: i64, metadata: BTreeMap<String, String>) -> usize {
        let of = self.sessions.iter().find(|one| one.intent.as_deref() == Some(intent));
        let currency = of.map_or_else(String::new, |session| session.currency.clone());
        let state = if self.is_slow { RefundState::Pending } else { RefundState::Succeeded };
        let id = self.id("re");
        self.refunds.push(Refund { id, intent: intent.to_owned(), amount, currency, state, metadata });
        let place = self.refunds.len() - 1;
        let object = refund_object(&self.refunds[place]);
        self.happened("refund.created", object);
        let charge = self.sessions.iter().find(|one| one.intent.as_deref() == Some(intent));
        if let Some(charge) = charge.map(|session| self.charge(session)) {
            self.happened("charge.refunded", charge);
        }
        place
    }

    pub(super) fn refund_in_dashboard(&mut self, url: &str) -> bool {
        let intent = self.place(url).and_then(|place| self.sessions[place].intent.clone());
        let Some(intent) = intent else { return false };
        let session = self.place(url).map(|place| &self.sessions[place]);
        let is_disputed = session.is_some_and(|session| !session.disputes.is_empty());
        let left = session.map_or(0, |session| session.amount) - self.refunded(&intent);
        if left == 0 || is_disputed {
            return false;
        }
        self.make_refund(&intent, left, BTreeMap::new());
        true
    }

    fn refund_changed(&mut self, place: usize, to: RefundState) {
        self.refunds[place].state = to;
        let object = refund_object(&self.refunds[place]);
        self.happened("refund.updated", object.clone());
        if to == RefundState::Failed {
            self.happened("refund.failed", object);
        }
    }

    pub(super) fn return_refund(&mut self, url: &str) -> bool {
        let Some(session) = self.place(url).map(|place| &self.sessions[place]) else { return false };
        if !session.disputes.is_empty() {
            return false;
        }
        let intent = session.intent.clone();
        let is_own = |refund: &Refund| {
            let is_kept = refund.state != RefundState::Failed && !refund.metadata.is_empty();
            Some(&refund.intent) == intent.as_ref() && is_kept
        };
        let Some(place) = self.refunds.iter().rposition(is_own) else { return false };
        self.refund_changed(place, RefundState::Failed);
        true
    }

    pub(super) fn finish_refunds(&mut self) {
        for place in 0..self.refunds.len() {
            if self.refunds[place].state == RefundState::Pending {
                self.refund_changed(place, RefundState::Succeeded);
            }
        }
    }

    pub(super) fn dispute(&mut self, url: &str) -> bool {
        let Some(place) = self.place(url) else { return false };
        let Some(intent) = self.sessions[place].intent.clone() else { return false };
        let amount = self.sessions[place].amount - self.refunded(&intent);
        if amount == 0 || !self.sessions[place].disputes.is_empty() {
            return false;
        }
        let id = self.id("dp");
        let object = dispute_object(&id, amount, &self.sessions[place], "needs_response");
        self.sessions[place].disputes.push(Dispute { id, amount, is_lost: None });
        self.happened("charge.dispute.created", object);
        true
    }

    pub(super) fn decide_dispute(&mut self, url: &str, is_lost: bool) -> bool {
        let Some(place) = self.place(url) else { return false };
        let session = &mut self.sessions[place];
        let Some(dispute) = session.disputes.iter_mut().find(|dispute| dispute.is_lost.is_none()) else {
            return false;
        };
        dispute.is_lost = Some(is_lost);
        let (id, amount) = (dispute.id.clone(), dispute.amount);
        let object = dispute_object(&id, amount, session, if is_lost { "lost" } else { "won" });
        self.happened("charge.dispute.closed", object);
        true
    }

    pub(super) fn movements(&self, reference: &str) -> Movements {
        let mut movements = Movements::default();
        for session in self.sessions.iter().filter(|session| session.reference == reference) {
            let Some(intent) = &session.intent else { continue };
            let lost = session.disputes.iter().filter(|dispute| dispute.is_lost == Some(true));
            movements.paid += session.amount;
            movements.returned += self.refunded(intent) + lost.map(|dispute| dispute.amount).sum::<i64>();
            movements.payments += 1;
        }
        movements
    }
}

fn url(id: &str) -> String {
    format!("https://checkout.stripe.example/c/pay/{id}")
}

fn refund_object(refund: &Refund) -> Value {
    let status = match refund.state {
        RefundState::Pending => "pending",
        RefundState::Succeeded => "succeeded",
        RefundState::Failed => "failed",
    };
    json!({
        "id": refund.id, "object": "refund", "amount": refund.amount, "currency": refund.currency, "status": status,
        "payment_intent": refund.intent, "metadata": refund.metadata,
    })
}

fn dispute_object(id: &str, amount: i64, session: &Session, status: &str) -> Value {
    json!({
        "id": id, "object": "dispute", "amount": amount, "currency": session.currency, "status": status,
        "payment_intent": session.intent, "metadata": {},
    })
}
