//! What middleware needs from the application, apart from the handlers.

use terrace_app::App;
use terrace_app::store::BoxFuture;
use terrace_identity::{Token, Viewer};
use terrace_kernel::{StoreError, UserId};

/// Lets tests replace the application, so that the shell runs without a store.
pub(crate) trait Backend: Send + Sync + 'static {
    /// The viewer of a token; `None` unless its session is live.
    fn viewer(&self, token: Token) -> BoxFuture<'_, Result<Option<Viewer>, StoreError>>;

    /// Fails if the store is not operational.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Notes that something of this fan may have changed.
    fn note_fan(&self, fan: UserId);
}

impl Backend for App {
    fn viewer(&self, token: Token) -> BoxFuture<'_, Result<Option<Viewer>, StoreError>> {
        Box::pin(App::viewer(self, token))
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(App::ready(self))
    }

    fn note_fan(&self, fan: UserId) {
        self.changes().note_fan(fan);
    }
}
