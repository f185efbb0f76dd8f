//! How a purchase stands as a whole, held against what the journal says of its payment: what is to be mended where the two
//! disagree (`docs/spec.md` §1 rule 13, §3 rule 4).

use crate::{Purchase, PurchaseState, UserPack, UserPackId, UserPackState};
use std::collections::BTreeSet;
use terrace_kernel::Timestamp;

/// A copy with what there is of its opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyStanding {
    /// The copy.
    pub copy: UserPack,
    /// Whether there is the proof of a draw.
    pub is_proved: bool,
    /// The slots whose collectibles there are, taken back or not.
    pub slots: Vec<u32>,
    /// When the first of those became the fan's.
    pub given_at: Option<Timestamp>,
}

/// What the journal of transfers says of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// Nothing was moved.
    Unpaid,
    /// The price was moved to the house.
    Paid,
    /// The price was moved to the house and back.
    GivenBack,
}

/// What stands between a purchase and whoever takes its money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentFollowUp {
    /// Nothing.
    Nothing,
    /// A payment that is open, at which nobody is to look again.
    Asleep,
    /// A payment that is looked at again, or of which nothing is open.
    InHand,
}

/// A purchase, what the journal says of its payment, and its copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseStanding {
    /// The purchase.
    pub purchase: Purchase,
    /// What the journal says of it.
    pub settlement: Settlement,
    /// Its payment.
    pub awaited: PaymentFollowUp,
    /// The copies, by nonce.
    pub copies: Vec<CopyStanding>,
}

/// What becomes of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyRepair {
    /// Its draw is there, and it is said to be sealed.
    Opened(UserPackId),
    /// Its purchase was given back, and it was not.
    Revoked(UserPackId),
}

impl PurchaseStanding {
    /// The state that goes with the journal. What was paid is completed, or refunded where it was paid back; of what was
    /// not, the state is believed, but for one that waits for a payment which nobody is to bring.
    pub fn right_state(&self, now: Timestamp) -> PurchaseState {
        let Purchase { state, expires_at, .. } = &self.purchase;
        match self.settlement {
            Settlement::GivenBack => PurchaseState::Refunded,
            Settlement::Paid => PurchaseState::Completed,
            Settlement::Unpaid => {
                let is_forsaken =
                    *state == PurchaseState::Pending && self.awaited == PaymentFollowUp::Nothing;
                let is_over = expires_at.is_none_or(|at| at.is_over(now));
                if is_forsaken && is_over { PurchaseState::Expired } else { *state }
            }
        }
    }

    /// The copies whose state goes neither with their draw nor with that of their purchase, once that is right.
    pub fn right_copies(&self, now: Timestamp) -> Vec<CopyRepair> {
        let is_refunded = self.right_state(now) == PurchaseState::Refunded;
        let mend = |standing: &CopyStanding| {
            let id = standing.copy.id;
            match standing.copy.state {
                UserPackState::Sealed | UserPackState::Opened if is_refunded => Some(CopyRepair::Revoked(id)),
                UserPackState::Sealed if standing.is_proved => Some(CopyRepair::Opened(id)),
                UserPackState::Sealed | UserPackState::Opened | UserPackState::Revoked => None,
            }
        };
        self.copies.iter().filter_map(mend).collect()
    }

    /// The nonces of the copies that a paid purchase lacks.
    pub fn missing_copies(&self) -> Vec<u32> {
        if self.settlement != Settlement::Paid || self.purchase.state != PurchaseState::Completed {
            return Vec::new();
        }
        let there: BTreeSet<u32> = self.copies.iter().map(|standing| standing.copy.nonce).collect();
        (1..=self.purchase.quantity.copies()).filter(|nonce| !there.contains(nonce)).collect()
    }

    /// Opened copies of which there is no proof: nobody can say any more what they gave.
    pub fn unproved(&self) -> impl Iterator<Item = UserPackId> {
        let opened = self.copies.iter().filter(|standing| standing.copy.state == UserPackState::Opened);
        opened.filter(|standing| !standing.is_proved).map(|standing| standing.copy.id)
    }

    /// Whether the state of the purchase, of a copy or of its payment is to be mended.
    pub fn is_out_of_state(&self, now: Timestamp) -> bool {
        self.awaited == PaymentFollowUp::Asleep
            || self.right_state(now) != self.purchase.state
            || !self.right_copies(now).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, PackId, PurchaseId, Quantity};
    use PurchaseState::{Cancelled, Completed, Expired, Pending, Refunded};
    use Settlement::{GivenBack, Paid, Unpaid};
    use UserPackState::{Opened, Revoked, Sealed};
    use terrace_kernel::UserId;
    use terrace_kernel::{Price, PriceKind};
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_micros(100);

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    fn standing(kind: PriceKind, state: PurchaseState, settlement: Settlement) -> PurchaseStanding {
        let currency = (kind == PriceKind::Money).then(|| "EUR".parse().unwrap());
        let purchase = Purchase {
            id: PurchaseId::from_uuid(id(1)),
            user: UserId::from_uuid(id(2)),
            pack: PackId::from_uuid(id(3)),
            quantity: Quantity::new(3).unwrap(),
            price: Price::new(kind, 5, currency).unwrap(),
            state,
            checkout_url: None,
            created_at: Timestamp::from_micros(1),
            expires_at: Some(Timestamp::from_micros(50)),
            changed_at: Timestamp::from_micros(1),
        };
        PurchaseStanding { purchase, settlement, awaited: PaymentFollowUp::InHand, copies: Vec::new() }
    }

    fn copy(nonce: u32, state: UserPackState, is_proved: bool) -> CopyStanding {
        CopyStanding {
            copy: UserPack {
                id: UserPackId::from_uuid(id(u128::from(nonce))),
                user: UserId::from_uuid(id(2)),
                pack: PackId::from_uuid(id(3)),
                purchase: PurchaseId::from_uuid(id(1)),
                nonce,
                state,
                seed_hash: Digest::from_bytes([0; 32]),
                bought_at: Timestamp::from_micros(1),
                opened_at: None,
            },
            is_proved,
            slots: Vec::new(),
            given_at: None,
        }
    }

    #[test]
    fn spec_3_rule_4_a_purchase_stands_as_the_journal_says() {
        for state in PurchaseState::ALL {
            let right = |kind, settlement| standing(kind, state, settlement).right_state(NOW);
            assert_eq!(right(PriceKind::Money, Paid), Completed, "{state}");
            assert_eq!(right(PriceKind::Money, GivenBack), Refunded, "{state}");
            assert_eq!(right(PriceKind::Coins, Paid), Completed, "{state}");
            // Nobody knows better.
            assert_eq!(right(PriceKind::Money, Unpaid), state, "{state}");
        }
    }

    #[test]
    fn what_waits_for_nobody_expires_in_its_time() {
        for (state, expires, right) in
            [(Pending, 50, Expired), (Pending, 200, Pending), (Cancelled, 50, Cancelled)]
        {
            let mut forsaken = standing(PriceKind::Money, state, Unpaid);
            forsaken.awaited = PaymentFollowUp::Nothing;
            forsaken.purchase.expires_at = Some(Timestamp::from_micros(expires));
            assert_eq!(forsaken.right_state(NOW), right);
        }
    }

    #[test]
    fn copies_go_with_their_draw_and_their_purchase() {
        let copies = vec![copy(1, Sealed, false), copy(2, Sealed, true), copy(3, Opened, true)];
        let first = copies[0].copy.id;
        let (second, third) = (copies[1].copy.id, copies[2].copy.id);
        let mut paid = standing(PriceKind::Coins, Completed, Paid);
        paid.copies.clone_from(&copies);
        assert_eq!(paid.right_copies(NOW), [CopyRepair::Opened(second)]);
        assert!(paid.is_out_of_state(NOW) && paid.missing_copies().is_empty());
        let mut back = standing(PriceKind::Money, Completed, GivenBack);
        back.copies = copies;
        back.copies.push(copy(4, Revoked, true));
        assert_eq!(back.right_copies(NOW), [first, second, third].map(CopyRepair::Revoked));
    }

    #[test]
    fn what_was_paid_and_is_not_there_is_missing() {
        let mut paid = standing(PriceKind::Coins, Completed, Paid);
        paid.copies = vec![copy(2, Opened, false)];
        assert_eq!(paid.missing_copies(), [1, 3]);
        assert_eq!(paid.unproved().count(), 1);
        let unpaid = standing(PriceKind::Coins, Completed, Unpaid);
        assert!(unpaid.missing_copies().is_empty());
        let back = standing(PriceKind::Money, Refunded, GivenBack);
        assert!(back.missing_copies().is_empty() && !back.is_out_of_state(NOW));
    }
}
