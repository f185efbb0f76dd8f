//! Asks the provider for requested wallets. Several processes may do so concurrently: a wallet that one of them has taken is
//! not due for a minute, and attempts are numbered, so that a late failure does not overwrite a later outcome.

use crate::App;
use crate::store::{Command, Query, WalletTx, into_infallible};
use crate::wallets::{Provisioned, WalletFault, WalletOrder, WalletProvider, publish};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, num};
use terrace_ledger::{Provisioning, WalletRead, WalletStatus};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Number of wallets that one process asks for concurrently.
const AT_ONCE: u32 = 8;
/// When a wallet that was taken is due again; longer than the calls for it take.
const TAKEN_FOR: Duration = Duration::from_mins(1);
/// Pause after the first attempt without an outcome; each further attempt doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause.
pub const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// Number of refusals after which a wallet fails.
const MOST_REFUSALS: u32 = 5;
/// Maximum length of a stored error text, in characters.
const WORDS: usize = 200;
/// Interval between two checks for due wallets.
const LOOK: Duration = Duration::from_secs(1);
/// Interval between two updates of the gauges.
const COUNT: Duration = Duration::from_secs(30);

impl App {
    /// Provides wallets until `stop` becomes true. Several processes may do so concurrently. Returns at once without a
    /// provider.
    pub async fn run_wallets(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        if self.wallets.is_none() {
            return;
        }
        let mut counted: Option<Instant> = None;
        while !*stop.borrow() {
            if let Err(error) = self.provide_until(&stop).await {
                log::warn!("wallets will be asked for again: {error}");
            }
            if counted.is_none_or(|at| at.elapsed() >= COUNT) {
                counted = Some(Instant::now());
                self.count_wallets().await;
            }
            tokio::select! {
                // The sender was dropped, or it sent true.
                _ = stop.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Asks for every wallet that is due, once; returns how many became ready.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn provide_wallets(self: &Arc<Self>) -> Result<u64, StoreError> {
        let (_never_stopped, stop) = watch::channel(false);
        self.provide_until(&stop).await
    }

    async fn provide_until(self: &Arc<Self>, stop: &watch::Receiver<bool>) -> Result<u64, StoreError> {
        let Some(calls) = &self.wallets else { return Ok(0) };
        let mut ready = 0;
        while !*stop.borrow() {
            // Most checks end here, without a write.
            if !into_infallible(self.query(IsWalletDue).await)? {
                break;
            }
            let taken = into_infallible(self.execute(TakeWallets).await)?;
            if taken.is_empty() {
                break;
            }
            let mut running = JoinSet::new();
            for provisioning in taken {
                running.spawn(provide(Arc::clone(self), Arc::clone(&calls.provider), provisioning));
            }
            while let Some(done) = running.join_next().await {
                match done {
                    Ok(Ok(is_ready)) => ready += u64::from(is_ready),
                    Ok(Err(error)) => log::warn!("the outcome of a wallet was not recorded: {error}"),
                    Err(error) => log::error!("a wallet is asked for again: {error}"),
                }
            }
        }
        Ok(ready)
    }

    async fn count_wallets(&self) {
        let standing = match into_infallible(self.query(super::WalletsStanding).await) {
            Ok(standing) => standing,
            Err(error) => return log::debug!("the requested wallets were not counted: {error}"),
        };
        metrics::gauge!("terrace_wallets_requested").set(num::to_f64(standing.requested));
        metrics::gauge!("terrace_wallets_failed").set(num::to_f64(standing.failed));
        let age = standing.oldest.map_or(Duration::ZERO, |oldest| self.now().since(oldest));
        metrics::gauge!("terrace_wallets_oldest_age_seconds").set(age.as_secs_f64());
    }
}

/// Counts a call to the provider.
pub(super) fn count_call<T>(call: &'static str, came: &Result<T, WalletFault>, began: Instant) {
    let outcome = match came {
        Ok(_) => "answered",
        Err(WalletFault::Passing(_)) => "unreached",
        Err(WalletFault::Refused(_)) => "refused",
    };
    metrics::counter!("terrace_wallet_calls_total", "call" => call, "outcome" => outcome).increment(1);
    metrics::histogram!("terrace_wallet_call_seconds").record(began.elapsed().as_secs_f64());
}

/// Asks the provider for one wallet, and records the outcome. Returns whether it is ready.
async fn provide(
    app: Arc<App>,
    provider: Arc<dyn WalletProvider>,
    provisioning: Provisioning,
) -> Result<bool, StoreError> {
    let wallet = &provisioning.wallet;
    let order = WalletOrder { wallet: wallet.id, user: wallet.user, network: wallet.network.clone() };
    let came = ask(&app, &*provider, order, provisioning.attempt).await;
    if let Err(fault) = &came {
        log::debug!("wallet {} was not provided: {fault}", wallet.id);
    }
    let settled = into_infallible(app.execute(SettleWallet { provisioning, came }).await)?;
    if settled == Some(WalletStatus::Failed) {
        metrics::counter!("terrace_wallets_failed_total").increment(1);
    }
    Ok(settled == Some(WalletStatus::Ready))
}

/// An order of an earlier attempt may have arrived without an answer, so the provider is first asked for it.
async fn ask(
    app: &App,
    provider: &dyn WalletProvider,
    order: WalletOrder,
    attempt: u32,
) -> Result<Provisioned, WalletFault> {
    if !provider.networks().contains(&order.network) {
        return Err(WalletFault::Passing(format!("the provider no longer has {}", order.network)));
    }
    if attempt > 1 {
        let began = Instant::now();
        let found = provider.look_up(order.clone(), app.now()).await;
        count_call("look_up", &found, began);
        // A provider may make an order again that failed before.
        if let Some(found @ (Provisioned::Pending | Provisioned::Ready { .. })) = found? {
            return Ok(found);
        }
    }
    let began = Instant::now();
    let came = provider.provision(order, app.now()).await;
    count_call("provision", &came, began);
    came
}

/// The pause before the next attempt: doubles with each, minus a random share of up to one half.
fn pause(failures: u32, luck: [u8; 4]) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.min(20))).min(LONGEST_PAUSE);
    let share = f64::from(u32::from_le_bytes(luck)) / f64::from(u32::MAX);
    whole.mul_f64(1.0 - share / 2.0)
}

struct IsWalletDue;

impl Query for IsWalletDue {
    const NAME: &'static str = "is_wallet_due";
    type Ports = dyn WalletRead;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletRead, now: Timestamp) -> Outcome<bool, Infallible> {
        Ok(tx.is_wallet_due(now)?)
    }
}

struct TakeWallets;

impl Command for TakeWallets {
    const NAME: &'static str = "take_wallets";
    type Ports = dyn WalletTx;
    type Output = Vec<Provisioning>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletTx, ctx: &mut Ctx) -> Outcome<Vec<Provisioning>, Infallible> {
        Ok(tx.take_wallets(ctx.now(), ctx.now().plus(TAKEN_FOR), AT_ONCE)?)
    }
}

/// Records the outcome of an attempt.
struct SettleWallet {
    provisioning: Provisioning,
    came: Result<Provisioned, WalletFault>,
}

impl Command for SettleWallet {
    const NAME: &'static str = "settle_wallet";
    type Ports = dyn WalletTx;
    /// The new state, if it changed.
    type Output = Option<WalletStatus>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletTx, ctx: &mut Ctx) -> Outcome<Option<WalletStatus>, Infallible> {
        let Provisioning { wallet, attempt, failures } = &self.provisioning;
        let status = match &self.came {
            // Counts even if another attempt was begun: both return the same account.
            Ok(Provisioned::Ready { address, custody }) => {
                tx.settle_wallet(wallet.id, address, *custody, ctx.now())?.then_some(WalletStatus::Ready)
            }
            unsettled => {
                let (words, is_refusal, is_final) = match unsettled {
                    Ok(Provisioned::Failed(why)) => (why.clone(), true, true),
                    Err(fault) => (words(fault), matches!(fault, WalletFault::Refused(_)), false),
                    Ok(_) => ("the provider is at work".to_owned(), false, false),
                };
                let due_at = ctx.now().plus(pause(*failures, ctx.random_bytes()));
                let noted = tx.note_wallet_fault(wallet.id, *attempt, is_refusal, &words, due_at)?;
                // `None` if a later attempt was begun, whose outcome counts.
                let fails = noted.is_some_and(|refusals| is_final || is_refusal && refusals >= MOST_REFUSALS);
                (fails && tx.fail_wallet(wallet.id, &words, ctx.now())?).then_some(WalletStatus::Failed)
            }
        };
        if let Some(status) = status {
            publish(tx, wallet, status, ctx.now())?;
        }
        Ok(status)
    }
}

/// The error text to store: at most `WORDS` characters, without control characters.
fn words(fault: &WalletFault) -> String {
    fault.to_string().chars().filter(|letter| !letter.is_control()).take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_are_shortened_by_half_at_most() {
        for (failures, seconds) in [(0, 1.0), (1, 2.0), (11, 2048.0), (12, 3600.0), (u32::MAX, 3600.0)] {
            let (longest, shortest) = (pause(failures, [0; 4]), pause(failures, [255; 4]));
            assert!((longest.as_secs_f64() - seconds).abs() < 1e-6, "{failures}: {longest:?}");
            assert!((shortest.as_secs_f64() - seconds / 2.0).abs() < 1e-6, "{failures}: {shortest:?}");
        }
    }
}
