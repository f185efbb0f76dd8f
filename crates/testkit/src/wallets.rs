//! A wallet provider that stands in for another company's: it makes one account for each order, and behaves as badly as a
//! test wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use terrace_app::store::BoxFuture;
use terrace_app::wallets::{ProviderWallet, Provisioned, WalletFault, WalletOrder, WalletProvider};
use terrace_kernel::Timestamp;
use terrace_ledger::{ChainName, Custody, Network, Token, TokenBalance, WalletId};
use tokio::sync::Semaphore;

/// How the provider answers one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletReply {
    /// It makes the account and says so.
    Ready,
    /// It makes the account, and the answer is lost.
    Lost,
    /// It takes the order and makes the account later.
    Pending,
    /// It does not answer, and does nothing.
    Silent,
    /// It rejects the call.
    Refused,
    /// It will not make the account.
    Failed,
}

#[derive(Default)]
struct Book {
    accounts: BTreeMap<WalletId, ChainName>,
    /// Orders that are taken and not made yet.
    taken: Vec<WalletId>,
    replies: Vec<WalletReply>,
    provisions: usize,
    look_ups: usize,
    reads: usize,
    /// What wallets hold, and whether it answers about that.
    held: Vec<TokenBalance>,
    is_mute: bool,
}

/// The provider. Orders are answered with the replies in their order, then with [`WalletReply::Ready`].
pub struct StandInWallets {
    networks: Vec<Network>,
    book: Mutex<Book>,
    /// How many calls may pass; closed gates hold calls back.
    gate: Semaphore,
}

impl StandInWallets {
    /// A provider of the networks `polygon` and `base` whose first replies are these.
    ///
    /// # Panics
    ///
    /// Never: the names are valid.
    pub fn new(replies: &[WalletReply]) -> Arc<Self> {
        let networks = ["polygon", "base"].map(|name| name.parse().expect("a network")).into();
        let book = Book { replies: replies.iter().rev().copied().collect(), ..Book::default() };
        Arc::new(Self { networks, book: Mutex::new(book), gate: Semaphore::new(Semaphore::MAX_PERMITS) })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many accounts it has made.
    pub fn accounts(&self) -> usize {
        self.book().accounts.len()
    }

    /// How many orders, look-ups and reads of balances it has received.
    pub fn calls(&self) -> [usize; 3] {
        let book = self.book();
        [book.provisions, book.look_ups, book.reads]
    }

    /// Makes the accounts of orders that it has taken.
    pub fn finish(&self) {
        let mut book = self.book();
        for wallet in std::mem::take(&mut book.taken) {
            book.accounts.insert(wallet, address(wallet));
        }
    }

    /// Holds back all calls until [`Self::release`].
    pub fn hold(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Lets all calls pass again.
    pub fn release(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS - self.gate.available_permits());
    }

    /// What every wallet holds from now on, as keys with amounts of six decimal places; `None`: it does not answer.
    ///
    /// # Panics
    ///
    /// Panics if an amount is malformed.
    pub fn holds(&self, held: Option<&[(&str, &str)]>) {
        let mut book = self.book();
        book.is_mute = held.is_none();
        let balance = |(key, amount): &(&str, &str)| {
            let token = Token::new(key, &key.to_uppercase(), 6).expect("a token");
            TokenBalance::new(token, amount).expect("an amount")
        };
        book.held = held.unwrap_or_default().iter().map(balance).collect();
    }

    /// Waits for as long as the test wants.
    async fn pass(&self) {
        if let Ok(permit) = self.gate.acquire().await {
            drop(permit);
        }
    }
}

fn address(wallet: WalletId) -> ChainName {
    format!("0x{}", wallet.as_uuid().simple()).parse().expect("an address")
}

fn ready(address: ChainName) -> Provisioned {
    Provisioned::Ready { address, custody: Custody::Provider }
}

fn silent() -> WalletFault {
    WalletFault::Passing("no answer".to_owned())
}

impl WalletProvider for StandInWallets {
    fn networks(&self) -> &[Network] {
        &self.networks
    }

    fn provision(
        &self,
        order: WalletOrder,
        _now: Timestamp,
    ) -> BoxFuture<'_, Result<Provisioned, WalletFault>> {
        Box::pin(async move {
            self.book().provisions += 1;
            self.pass().await;
            let mut book = self.book();
            if let Some(address) = book.accounts.get(&order.wallet) {
                return Ok(ready(address.clone()));
            }
            match book.replies.pop().unwrap_or(WalletReply::Ready) {
                reply @ (WalletReply::Ready | WalletReply::Lost) => {
                    book.accounts.insert(order.wallet, address(order.wallet));
                    if reply == WalletReply::Lost { Err(silent()) } else { Ok(ready(address(order.wallet))) }
                }
                WalletReply::Pending => {
                    book.taken.push(order.wallet);
                    Ok(Provisioned::Pending)
                }
                WalletReply::Silent => Err(silent()),
                WalletReply::Refused => Err(WalletFault::Refused("answered 422".to_owned())),
                WalletReply::Failed => Ok(Provisioned::Failed("not for this fan".to_owned())),
            }
        })
    }

    fn look_up(
        &self,
        order: WalletOrder,
        _now: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Provisioned>, WalletFault>> {
        Box::pin(async move {
            self.book().look_ups += 1;
            self.pass().await;
            let book = self.book();
            let made = book.accounts.get(&order.wallet).cloned().map(ready);
            Ok(made.or_else(|| book.taken.contains(&order.wallet).then_some(Provisioned::Pending)))
        })
    }

    fn balances(
        &self,
        _wallet: ProviderWallet,
        _now: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<TokenBalance>, WalletFault>> {
        Box::pin(async move {
            self.book().reads += 1;
            self.pass().await;
            let book = self.book();
            if book.is_mute { Err(silent()) } else { Ok(book.held.clone()) }
        })
    }
}
