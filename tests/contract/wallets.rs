//! Contract part 2 §4, wallets: a fan has one wallet on a network and one account at the provider, whatever the number of
//! requests and whatever becomes of the provider's answers; no call happens within a transaction.

use super::deletion::{catch_up, delete};
use super::repairs::{damage, repair_counts};
use anyhow::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use terrace_testkit::app::balances::ReadWallets;
use terrace_testkit::app::store::BoxFuture;
use terrace_testkit::app::wallets::{
    ProviderWallet, Provisioned, RequestWallet, RequestWalletRefusal, ShownWallet, UnknownWallet,
    WalletFault, WalletOrder, WalletProvider, WalletRequested, WalletsStanding,
};
use terrace_testkit::kernel::{Clock, EventKind, Failure, Limit, Position, Timestamp, UserId};
use terrace_testkit::ledger::{Network, TokenBalance, Wallet, WalletId, WalletStanding, WalletStatus};
use terrace_testkit::storage::Storage;
use terrace_testkit::{DatabaseKind, PASSWORD, StandInWallets, TestApp, WalletReply, on_each_database};

on_each_database! {
    spec_4_a_request_makes_one_wallet_on_a_network,
    spec_4_a_hundred_requests_at_once_make_one_wallet_and_one_account,
    spec_4_lost_and_late_answers_make_one_account,
    spec_4_a_provider_that_does_not_answer_is_asked_again,
    spec_4_a_wallet_that_fails_is_requested_again_by_the_next_request,
    spec_4_balances_are_kept_and_marked_as_stale,
    spec_4_wallets_of_others_do_not_exist,
    spec_4_a_deleted_account_leaves_no_wallet,
    spec_4_a_wallet_that_sleeps_too_long_is_found_and_woken,
    spec_4_without_a_provider_nothing_is_asked,
    spec_4_no_transaction_is_open_while_the_wallet_provider_is_asked,
}

fn network(name: &str) -> Network {
    name.parse().expect("a network")
}

fn request(user: UserId) -> RequestWallet {
    RequestWallet { user, network: network("polygon") }
}

fn wallets(service: &TestApp, user: UserId) -> Vec<Wallet> {
    service.found(ReadWallets { user, limit: Limit::MAX, after: None }).wallets
}

fn provide(service: &TestApp) -> u64 {
    service.run(service.app().provide_wallets()).expect("a working store")
}

fn read(service: &TestApp, user: UserId, wallet: WalletId) -> ShownWallet {
    service.run(service.app().read_wallet(user, wallet)).expect("a wallet")
}

/// The states of the wallet events of the log, in order.
fn changes(service: &TestApp) -> Vec<String> {
    let log = service.log(Position::START).into_iter();
    let changed = log.filter(|event| event.what.kind == EventKind::WalletChanged);
    changed.map(|event| event.detail.as_deref().unwrap_or_default().to_owned()).collect()
}

fn amounts(shown: &ShownWallet) -> Vec<(&str, &str)> {
    shown.balances.iter().map(|held| (held.token.key.as_str(), held.amount.as_str())).collect()
}

fn spec_4_a_request_makes_one_wallet_on_a_network(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let mia = service.fan("mia").id;
    let WalletRequested { wallet, is_new } = service.done(request(mia));
    assert!(is_new && wallet.status == WalletStatus::Requested && wallet.address.is_none());
    assert_eq!(service.done(request(mia)), WalletRequested { wallet: wallet.clone(), is_new: false });
    // A request asks nothing of the provider.
    assert_eq!(provider.calls(), [0, 0, 0]);
    service.clock().advance(Duration::from_millis(1));
    let other = service.done(RequestWallet { user: mia, network: network("base") });
    assert!(other.is_new && other.wallet.id != wallet.id);
    assert_eq!(provide(&service), 2);
    assert_eq!((provide(&service), provider.calls()), (0, [2, 0, 0]));
    let found = wallets(&service, mia);
    assert_eq!(found.iter().map(|it| it.network.as_str()).collect::<Vec<_>>(), ["polygon", "base"]);
    assert!(found.iter().all(|it| it.status == WalletStatus::Ready && it.address.is_some()));
    assert_eq!(service.done(request(mia)).wallet, found[0]);
    let mut changed = changes(&service);
    assert_eq!(changed[..2], ["polygon/requested", "base/requested"].map(str::to_owned));
    // Both are asked for at the same time.
    changed[2..].sort();
    assert_eq!(changed[2..], ["base/ready", "polygon/ready"].map(str::to_owned));
    Ok(())
}

fn spec_4_a_hundred_requests_at_once_make_one_wallet_and_one_account(kind: DatabaseKind) -> Result<()> {
    use WalletReply::{Lost, Silent};
    let provider = StandInWallets::new(&[Silent, Lost]);
    let plain = TestApp::without_dry_run(kind)?;
    let [one, two] = [(); 2].map(|()| plain.with_wallets(Arc::<StandInWallets>::clone(&provider)));
    let (one, two) = (one?, two?);
    let mia = one.fan("mia").id;
    let requests = (0..100_usize).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { one.app() } else { two.app() });
        async move { app.execute(request(mia)).await }
    });
    let requested: Vec<_> =
        one.together(requests).into_iter().map(|done| done.expect("a working store")).collect();
    assert_eq!(requested.iter().filter(|requested| requested.is_new).count(), 1);
    assert!(requested.iter().all(|it| it.wallet.id == requested[0].wallet.id));
    // Two processes ask at the same time, until it is ready.
    for _ in 0..6 {
        let rounds = [&one, &two].map(|service| {
            let app = Arc::clone(service.app());
            async move { app.provide_wallets().await }
        });
        for done in one.together(rounds) {
            done.expect("a working store");
        }
        one.clock().advance(Duration::from_secs(30));
    }
    let found = wallets(&one, mia);
    assert_eq!((found.len(), found[0].status, provider.accounts()), (1, WalletStatus::Ready, 1));
    assert_eq!(changes(&one), ["polygon/requested", "polygon/ready"].map(str::to_owned));
    Ok(())
}

fn spec_4_lost_and_late_answers_make_one_account(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[WalletReply::Lost, WalletReply::Pending]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    service.done(request(mia));
    assert_eq!((provide(&service), provider.accounts()), (0, 1));
    assert_eq!(wallets(&service, mia)[0].status, WalletStatus::Requested);
    service.clock().advance(Duration::from_secs(2));
    // The second attempt finds the account that the first one has made.
    assert_eq!((provide(&service), provider.calls()), (1, [1, 1, 0]));
    service.done(request(bo));
    assert_eq!(provide(&service), 0);
    for _ in 0..2 {
        service.clock().advance(Duration::from_secs(10));
        assert_eq!(provide(&service), 0, "the provider is at work");
    }
    provider.finish();
    service.clock().advance(Duration::from_mins(1));
    assert_eq!((provide(&service), provider.accounts()), (1, 2));
    assert_eq!(provider.calls(), [2, 4, 0], "an order that is taken is not repeated");
    Ok(())
}

fn spec_4_a_provider_that_does_not_answer_is_asked_again(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[WalletReply::Silent; 12]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let mia = service.fan("mia").id;
    service.done(request(mia));
    for attempt in 1..=12 {
        assert_eq!(provide(&service), 0);
        assert_eq!(provide(&service), 0, "not before its pause is over");
        assert_eq!(provider.calls()[0], attempt);
        service.clock().advance(Duration::from_hours(1));
    }
    let standing = service.found(WalletsStanding);
    assert_eq!((standing.requested, standing.failed), (1, 0), "silence is no refusal");
    // The process that took it dies: it is due again after a minute.
    let due = service
        .write(|tx, ctx| Ok(tx.take_wallets(ctx.now(), ctx.now().plus(Duration::from_mins(1)), 8)?.len()));
    assert_eq!((due, provide(&service)), (1, 0));
    service.clock().advance(Duration::from_mins(1));
    assert_eq!((provide(&service), wallets(&service, mia)[0].status), (1, WalletStatus::Ready));
    assert_eq!(service.found(WalletsStanding), WalletStanding::default());
    Ok(())
}

fn spec_4_a_wallet_that_fails_is_requested_again_by_the_next_request(kind: DatabaseKind) -> Result<()> {
    use WalletReply::{Failed, Refused};
    let provider = StandInWallets::new(&[Failed, Refused, Refused, Refused, Refused, Refused]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let mia = service.fan("mia").id;
    let first = service.done(request(mia)).wallet;
    assert_eq!(provide(&service), 0);
    assert_eq!(wallets(&service, mia)[0].status, WalletStatus::Failed);
    // It rests until the fan asks for it.
    service.clock().advance(Duration::from_hours(24));
    assert_eq!((provide(&service), provider.calls()[0]), (0, 1));
    let again = service.done(request(mia));
    let expected = Wallet { status: WalletStatus::Requested, ..first };
    assert_eq!(again, WalletRequested { wallet: expected, is_new: false });
    for refusal in 1..=5 {
        assert_eq!(wallets(&service, mia)[0].status, WalletStatus::Requested, "{refusal}");
        assert_eq!(provide(&service), 0);
        service.clock().advance(Duration::from_mins(1));
    }
    assert_eq!(wallets(&service, mia)[0].status, WalletStatus::Failed, "refused five times");
    service.done(request(mia));
    assert_eq!((provide(&service), provider.accounts()), (1, 1));
    let states = ["requested", "failed", "requested", "failed", "requested", "ready"];
    assert_eq!(changes(&service), states.map(|state| format!("polygon/{state}")));
    Ok(())
}

fn spec_4_balances_are_kept_and_marked_as_stale(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[]);
    let plain = TestApp::start(kind)?;
    let service = plain.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let mia = service.fan("mia").id;
    let wallet = service.done(request(mia)).wallet.id;
    let shown = read(&service, mia, wallet);
    assert!(shown.balances.is_empty() && !shown.is_stale, "there is nothing to ask about yet");
    assert_eq!(provider.calls(), [0, 0, 0]);
    provide(&service);
    provider.holds(Some(&[("usdc", "12.5"), ("fan", "3")]));
    let shown = read(&service, mia, wallet);
    assert_eq!((amounts(&shown), shown.is_stale), (vec![("usdc", "12.5"), ("fan", "3")], false));
    assert_eq!(shown.wallet.balances_at, Some(service.clock().now()));
    // A fresh report is shown without asking.
    provider.holds(Some(&[("fan", "4")]));
    assert_eq!((amounts(&read(&service, mia, wallet)).len(), provider.calls()[2]), (2, 1));
    service.clock().advance(Duration::from_secs(31));
    assert_eq!(amounts(&read(&service, mia, wallet)), [("fan", "4")]);
    // Without an answer the last report stays, and the provider is spared.
    provider.holds(None);
    service.clock().advance(Duration::from_secs(31));
    let reported = read(&service, mia, wallet);
    assert_eq!((amounts(&reported), reported.is_stale), (vec![("fan", "4")], true));
    assert!(reported.wallet.balances_at.is_some_and(|at| at < service.clock().now()));
    assert!(read(&service, mia, wallet).is_stale);
    assert_eq!(provider.calls()[2], 3);
    // A process without a provider shows what is known.
    let shown = read(&plain, mia, wallet);
    assert_eq!((amounts(&shown), shown.is_stale), (vec![("fan", "4")], true));
    Ok(())
}

fn spec_4_wallets_of_others_do_not_exist(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[]);
    let service = TestApp::start(kind)?.with_wallets(provider)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let wallet = service.done(request(mia)).wallet.id;
    let refused = service.run(service.app().read_wallet(bo, wallet));
    assert!(matches!(refused, Err(Failure::Refused(UnknownWallet))), "{refused:?}");
    assert_eq!(wallets(&service, bo), []);
    Ok(())
}

fn spec_4_a_deleted_account_leaves_no_wallet(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[]);
    let service = TestApp::start(kind)?.with_wallets(Arc::<StandInWallets>::clone(&provider))?;
    let mia = service.fan("mia");
    let wallet = service.done(request(mia.id)).wallet.id;
    provide(&service);
    provider.holds(Some(&[("fan", "4")]));
    read(&service, mia.id, wallet);
    // One that the provider is being asked for at that moment.
    service.done(RequestWallet { user: mia.id, network: network("base") });
    let taken =
        service.write(|tx, ctx| Ok(tx.take_wallets(ctx.now(), ctx.now().plus(Duration::from_mins(1)), 8)?));
    assert!(delete(&service, mia.cookie, PASSWORD).is_none());
    catch_up(&service);
    for table in ["wallets", "wallet_balances"] {
        let rows = service.storage().read_by_hand(&format!("SELECT 'one' AS text FROM {table}"))?;
        assert_eq!(rows, Vec::<String>::new(), "{table}");
    }
    assert_eq!(service.refused(request(mia.id)), RequestWalletRefusal::NotActive);
    let late = service.write(move |tx, ctx| {
        let address = "0xab".parse().expect("an address");
        let custody = terrace_testkit::ledger::Custody::Provider;
        Ok(tx.settle_wallet(taken[0].wallet.id, &address, custody, ctx.now())?)
    });
    assert!(!late, "an answer that comes later finds nothing");
    Ok(())
}

fn spec_4_a_wallet_that_sleeps_too_long_is_found_and_woken(kind: DatabaseKind) -> Result<()> {
    let provider = StandInWallets::new(&[]);
    let service = TestApp::start(kind)?.with_wallets(provider)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    service.done(request(mia));
    let later = service.clock().now().plus(Duration::from_hours(48));
    let due = match kind {
        DatabaseKind::Postgres => format!("'{later}'"),
        DatabaseKind::Sqlite => later.as_micros().to_string(),
    };
    damage(&service, &[&format!("UPDATE wallets SET due_at = {due}")]);
    service.done(request(bo));
    assert_eq!(provide(&service), 1);
    assert_eq!(repair_counts(&service, "repair-wallets"), [("wallets woken", 1)]);
    assert_eq!((provide(&service), wallets(&service, mia)[0].status), (1, WalletStatus::Ready));
    Ok(())
}

fn spec_4_without_a_provider_nothing_is_asked(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    service.done(request(mia));
    assert_eq!((provide(&service), service.app().wallet_networks()), (0, None));
    assert_eq!(wallets(&service, mia)[0].status, WalletStatus::Requested);
    Ok(())
}

/// Changes all rows of these tables in a transaction of its own, which waits while another one holds locks on them.
pub(super) async fn assert_unlocked(storage: &Storage, tables: &'static [&'static str]) {
    let storage = storage.clone();
    let write = move || {
        let change = |column: &&str| {
            let (table, _) = column.split_once('.').expect("a table and a column");
            format!("UPDATE {table} SET {0} = {0}", column.replace(&format!("{table}."), ""))
        };
        let statements: Vec<String> = tables.iter().map(change).collect();
        storage.execute_by_hand(&statements.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let written = tokio::time::timeout(Duration::from_secs(20), tokio::task::spawn_blocking(write)).await;
    assert!(matches!(written, Ok(Ok(Ok(())))), "a transaction was open: {written:?}");
}

/// A provider that, before it answers, changes what it is asked about.
struct Watching {
    inner: Arc<StandInWallets>,
    storage: OnceLock<Storage>,
    looked: AtomicUsize,
}

impl Watching {
    async fn look(&self) {
        let storage = self.storage.get().expect("the storage");
        assert_unlocked(storage, &["users.id", "wallets.id", "wallet_balances.wallet_id"]).await;
        self.looked.fetch_add(1, Ordering::SeqCst);
    }
}

impl WalletProvider for Watching {
    fn networks(&self) -> &[Network] {
        self.inner.networks()
    }

    fn provision(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Provisioned, WalletFault>> {
        Box::pin(async move {
            self.look().await;
            self.inner.provision(order, now).await
        })
    }

    fn look_up(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Provisioned>, WalletFault>> {
        Box::pin(async move {
            self.look().await;
            self.inner.look_up(order, now).await
        })
    }

    fn balances(
        &self,
        wallet: ProviderWallet,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<TokenBalance>, WalletFault>> {
        Box::pin(async move {
            self.look().await;
            self.inner.balances(wallet, now).await
        })
    }
}

fn spec_4_no_transaction_is_open_while_the_wallet_provider_is_asked(kind: DatabaseKind) -> Result<()> {
    let inner = StandInWallets::new(&[WalletReply::Lost]);
    let watching = Arc::new(Watching {
        inner: Arc::clone(&inner),
        storage: OnceLock::new(),
        looked: AtomicUsize::new(0),
    });
    let service = TestApp::start(kind)?.with_wallets(Arc::<Watching>::clone(&watching))?;
    assert!(watching.storage.set(service.storage().clone()).is_ok());
    let mia = service.fan("mia").id;
    let wallet = service.done(request(mia)).wallet.id;
    assert_eq!(provide(&service), 0);
    service.clock().advance(Duration::from_secs(2));
    assert_eq!(provide(&service), 1);
    inner.holds(Some(&[("fan", "3")]));
    assert!(!read(&service, mia, wallet).is_stale);
    // Each of the calls was watched.
    assert_eq!((inner.calls(), watching.looked.load(Ordering::SeqCst)), ([1, 1, 1], 3));
    Ok(())
}
