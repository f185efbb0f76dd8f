//! Coins and packs of the demonstration fans.

use crate::demo::demo_graph::number;
use crate::demo::{DEMO_FAN, LoadDemo, done, earlier, find, minutes, wrong};
use crate::packs::{OpenPack, OpenPackRequest, PackBook, PurchasePack, PurchasePackRefusal};
use crate::store::{Command, DemoTx, TransferTx};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, CtxSeed, Failure, StoreError, UserId, num};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_packs::{ClientSeed, Quantity};

/// Coins that the demo fan receives.
const GIFT: i64 = 20;

/// A pack that a fan has bought.
struct Bought<'d> {
    fan: &'d str,
    pack: &'static str,
    is_opened: bool,
    minutes_ago: u32,
}

/// The packs that these fans have bought. The demo fan has one that is open and two to be opened.
fn bought<'d>(fans: impl Iterator<Item = &'d str>) -> Vec<Bought<'d>> {
    let mut all = Vec::new();
    for fan in fans {
        if fan == DEMO_FAN {
            let packs = [("match-day", true, 170), ("match-day", false, 45), ("away-days", false, 30)];
            all.extend(packs.map(|(pack, is_opened, minutes_ago)| Bought {
                fan,
                pack,
                is_opened,
                minutes_ago,
            }));
            continue;
        }
        for (pack, one_of) in [("match-day", 2), ("away-days", 3)] {
            if number("buys", fan, pack).is_multiple_of(one_of) {
                let minutes_ago = num::to_u32(number("bought", fan, pack) % 180) + 5;
                all.push(Bought { fan, pack, is_opened: true, minutes_ago });
            }
        }
    }
    all
}

impl LoadDemo {
    /// Gives coins to the demo fan, and sells packs to the fans who can afford them.
    pub(super) fn load_packs(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        give_coins(tx, ctx, find(fans, DEMO_FAN)?)?;
        let book = Arc::new(PackBook::new(tx.packs()?, tx.collectibles()?));
        for (nth, entry) in bought(self.demo.fan.iter().map(|fan| fan.username.as_str())).iter().enumerate() {
            let user = find(fans, entry.fan)?;
            let at = ctx.now().minus(minutes(entry.minutes_ago));
            let mut then = if entry.is_opened {
                // The seed of the draw, which the proof reveals, is the same every time.
                let seed = Sha256::digest(format!("demo/{nth}/{}/{}", entry.fan, entry.pack));
                CtxSeed::new(at, seed.into()).open()
            } else {
                earlier(ctx, at)
            };
            self.load_pack(tx, &mut then, &book, user, entry)?;
        }
        Ok(())
    }

    fn load_pack(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        book: &Arc<PackBook>,
        user: UserId,
        entry: &Bought<'_>,
    ) -> Result<(), StoreError> {
        let pack = book.packs().iter().find(|pack| pack.key.as_str() == entry.pack);
        let pack = pack.ok_or_else(|| wrong(format!("no pack {:?}", entry.pack)))?.id;
        let purchase = PurchasePack {
            user,
            pack,
            quantity: Quantity::ONE,
            book: Arc::clone(book),
            safe: Arc::clone(&self.safe),
            provider: None,
            new_account_age: Duration::ZERO,
        };
        let purchased = match purchase.run(tx, ctx) {
            Err(Failure::Refused(PurchasePackRefusal::Insufficient { .. })) => return Ok(()),
            outcome => done(outcome)?,
        };
        if entry.is_opened {
            let client_seed = Some("demo".parse::<ClientSeed>().map_err(wrong)?);
            let copy = purchased.copies.first().map(|copy| copy.id);
            let open = OpenPack {
                user,
                request: OpenPackRequest { pack, copy, client_seed },
                book: Arc::clone(book),
                safe: Arc::clone(&self.safe),
                has_minter: self.has_minter,
            };
            done(open.run(tx, ctx))?;
        }
        Ok(())
    }
}

fn give_coins(tx: &mut dyn TransferTx, ctx: &mut Ctx, fan: UserId) -> Result<(), StoreError> {
    let transfer = Transfer {
        id: ctx.new_id(),
        kind: AccountKind::Coins,
        debit: Holder::House(House::Issuance),
        credit: Holder::Fan(fan),
        amount: Amount::new(GIFT).map_err(wrong)?,
        reason: "A gift for the new season".to_owned(),
        source: TransferSource::operator("demo/gift").map_err(wrong)?,
        at: ctx.now(),
    };
    crate::balances::transfer(tx, &transfer).map(drop)
}
