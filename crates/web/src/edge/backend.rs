//! What the shell itself asks of the service, apart from what handlers do.

use terrace_app::App;
use terrace_app::store::BoxFuture;
use terrace_identity::{Token, Viewer};
use terrace_kernel::StoreError;

/// The seam at which the shell can be tried without a store.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Who presents this token, if its session is live.
    fn viewer(&self, token: Token) -> BoxFuture<'_, Result<Option<Viewer>, StoreError>>;

    /// Fails when the store cannot do its work.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

impl Backend for App {
    fn viewer(&self, token: Token) -> BoxFuture<'_, Result<Option<Viewer>, StoreError>> {
        Box::pin(App::viewer(self, token))
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(App::ready(self))
    }
}
