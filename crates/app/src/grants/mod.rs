//! Grants: what fans are given for an order, a claim, a spin or a round, and what is taken back.
//!
//! One mechanism gives points, coins, sealed packs, collectibles and digital products. [`give`] runs within the
//! transaction of what it gives for, whose command has locked the fan's account:
//!
//! ```text
//! let gift = Gift { source: GrantSource { giver: Giver::Claim, id: claim.id.into() }, grants: vec![reward.grant], reason };
//! let given = give(tx, ctx, fan, &[gift], &self.granter)?;     // GrantTx
//! take_back(tx, ctx, fan, &[source], "Refund of …")?;          // GrantTx
//! ```
//!
//! - **Once**: the table `grants` has one row for each fan, source and place among the grants of the source. A source that
//!   has given before gives nothing more, and [`give`] returns only what it gave now. What was taken back stays taken
//!   back: [`take_back`] returns only what it took now.
//! - **All or nothing**: if copies or editions are gone, [`give`] refuses, and nothing of the refused call is left in the
//!   transaction; the caller may go on with something else, such as the substitute of a wheel's segment.
//! - **One call for all** that a transaction gives: editions and stocks are locked in the order of their ids.
//! - **Points** are for games: [`give_in_game`] awards them under the source `game:<id>`, and its ports include the
//!   boards; its command declares `AFFECTS_LEADERBOARD`. [`give`] cannot: it refuses as a defect what [`Giver::may_give`] forbids, as content does before.
//! - **Packs**: granted copies are copies like bought ones, except that their origin is the grant. They count as sold and
//!   sealed, so that every sealed copy can be filled, and not towards a fan's limit. A pack is granted while its sale is
//!   over or it is retired, but not before its sale has begun: until then its contents may change.
//! - **Collectibles** of a limited edition take its next serials; if the edition belongs to a closed pool of a pack, one
//!   that a sealed copy may need is not given.
//! - **Orders** wait for their payment: [`reserve`] takes the copies when the order is placed, `Granter::reserved` gives
//!   them without counting them again, and [`release`] returns them if the order ends unpaid.
//! - **Codes** belong to a claim: the grant only records that the claim has given one.
//!
//! [`take_back`] takes coins as far as the fan has them and writes the rest off, revokes copies, opened ones with their
//! collectibles, and collectibles; a serial is not used again, and only sealed copies return to the stock. [`is_used`] is
//! whether a fan has opened a copy or spent coins. Points are reversed by `Awards::take_back`.
//!
//! Another kind is a variant of [`GrantKind`], a line in `written` below if it writes rows of its own, and one in
//! [`take_back`].

mod batch;
pub mod export;
mod give;
mod names;
mod stock;
mod take_back;

pub use crate::store::grants::GivenGrant;
pub(crate) use batch::give_all;
pub use give::{Gift, Granter, give, give_in_game, pay_coins};
pub use names::GrantBook;
pub(crate) use names::grant_draft;
pub(crate) use stock::check;
pub use stock::{Reserved, release, reserve};
pub use take_back::{is_used, take_back};

use crate::App;
use terrace_kernel::StoreError;
pub use terrace_kernel::{Giver, Grant, GrantId, GrantKind, GrantSource};

/// Why grants are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// No copy of a pack, or no edition of a collectible, is left.
    #[error("a pack or a collectible is sold out")]
    SoldOut,
    /// The sale of a pack has not begun.
    #[error("the sale of a pack has not begun")]
    NotOnSale,
}

impl App {
    /// What the commands of this process give grants with.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read, or this process has no secret key.
    pub async fn granter(&self) -> Result<Granter, StoreError> {
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        Ok(Granter { book, safe, has_minter: self.has_minter(), is_reserved: false })
    }
}
