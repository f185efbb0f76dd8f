//! A service without a store, for tests.

use crate::docs::Document;
use crate::edge::WebConfig;
use crate::edge::{Backend, Shell};
use crate::register::Routes;
use crate::service::Service;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use terrace_app::store::BoxFuture;
use terrace_identity::{Role, Secret, Token, TokenKind, Viewer};
use terrace_kernel::{Clock, CtxSeed, Entropy, StoreError, Timestamp, UserId};
use utoipa::openapi::OpenApi;
use uuid::Uuid;

/// A signed-in viewer with arbitrary ids.
pub(crate) fn viewer() -> Viewer {
    Viewer {
        user_id: Uuid::from_u128(1).into(),
        session_id: Uuid::from_u128(2).into(),
        role: Role::Fan,
        last_seen_at: Timestamp::from_micros(0),
        expires_at: Timestamp::from_micros(i64::MAX),
    }
}

/// A backend with one browser session and one native client's session; fails if `broken`.
pub(crate) struct FakeBackend {
    pub(crate) cookie: (Secret, Token),
    pub(crate) access: (Secret, Token),
    pub(crate) look_ups: AtomicU64,
    pub(crate) noted: Mutex<Vec<UserId>>,
    pub(crate) broken: bool,
}

impl FakeBackend {
    pub(crate) fn new(broken: bool) -> Self {
        let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [5; 32]).open();
        Self {
            cookie: Token::draw(TokenKind::Cookie, &mut ctx),
            access: Token::draw(TokenKind::Access, &mut ctx),
            look_ups: AtomicU64::new(0),
            noted: Mutex::default(),
            broken,
        }
    }
}

impl Backend for FakeBackend {
    fn viewer(&self, token: Token) -> BoxFuture<'_, Result<Option<Viewer>, StoreError>> {
        self.look_ups.fetch_add(1, Ordering::Relaxed);
        let known = token == self.cookie.1 || token == self.access.1;
        Box::pin(async move { self.ready().await.map(|()| known.then(viewer)) })
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let broken = self.broken;
        Box::pin(
            async move { if broken { Err(StoreError::Unavailable("secret cause".into())) } else { Ok(()) } },
        )
    }

    fn note_fan(&self, fan: UserId) {
        self.noted.lock().unwrap().push(fan);
    }
}

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000)
    }
}

struct Counting(AtomicU64);

impl Entropy for Counting {
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        seed
    }
}

/// A service on `backend` with these routes and their document.
pub(crate) fn service(backend: Arc<FakeBackend>, config: WebConfig, routes: fn(&mut Routes<'_>)) -> Service {
    let mut document = OpenApi::default();
    routes(&mut Routes::Describe(&mut document));
    let entropy = Arc::new(Counting(AtomicU64::new(0)));
    let document = Arc::new(Document::of(&document));
    let contract = document.contract.clone();
    let shell = Shell::new(backend, Arc::new(Fixed), entropy, None, config, contract);
    Service::of(shell, document, None, routes)
}
