//! Consistency of a purchase with the journal of transfers, and the repairs where the two disagree (`docs/spec.md` §1
//! rule 13, §3 rule 4).

use crate::{Purchase, PurchaseState, UserPack, UserPackId, UserPackState};
use std::collections::BTreeSet;
use terrace_kernel::Timestamp;

/// A copy with the stored results of its opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyStanding {
    /// The stored copy, sealed or opened.
    pub copy: UserPack,
    /// Whether the proof of a draw is stored.
    pub is_proved: bool,
    /// The slots whose collectibles are stored, revoked or not.
    pub slots: Vec<u32>,
    /// When the fan received the first of those.
    pub given_at: Option<Timestamp>,
}

/// What the journal of transfers records for a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// No transfer.
    Unpaid,
    /// The price was transferred to the service.
    Paid,
    /// The price was transferred to the service and back.
    GivenBack,
}

/// The state of the payment process of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentFollowUp {
    /// There is no payment process.
    Nothing,
    /// A payment is open, and no follow-up is scheduled.
    Asleep,
    /// A follow-up is scheduled, or the payment is not open.
    InHand,
}

/// A purchase, its settlement in the journal, its payment and its copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurchaseStanding {
    /// The stored purchase, in the state that is checked.
    pub purchase: Purchase,
    /// The settlement that the journal records.
    pub settlement: Settlement,
    /// The state of its payment process.
    pub awaited: PaymentFollowUp,
    /// The copies, ordered by nonce.
    pub copies: Vec<CopyStanding>,
}

/// A repair of the state of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyRepair {
    /// The copy is marked sealed, but its draw is stored: mark it opened.
    Opened(UserPackId),
    /// The purchase was refunded, but the copy was not revoked: revoke it.
    Revoked(UserPackId),
}

impl PurchaseStanding {
    /// The state that the journal implies. A paid purchase is completed, or refunded if the price was transferred back.
    /// An unpaid purchase keeps its state, except a pending one without a payment process: it is expired once its time
    /// is over.
    pub fn right_state(&self, now: Timestamp) -> PurchaseState {
        let Purchase { state, expires_at, .. } = &self.purchase;
        match self.settlement {
            Settlement::GivenBack => PurchaseState::Refunded,
            Settlement::Paid => PurchaseState::Completed,
            Settlement::Unpaid => {
                let has_no_payment =
                    *state == PurchaseState::Pending && self.awaited == PaymentFollowUp::Nothing;
                let is_over = expires_at.is_none_or(|at| at.is_over(now));
                if has_no_payment && is_over { PurchaseState::Expired } else { *state }
            }
        }
    }

    /// The copies whose state disagrees with their draw or with the right state of their purchase.
    pub fn right_copies(&self, now: Timestamp) -> Vec<CopyRepair> {
        let is_refunded = self.right_state(now) == PurchaseState::Refunded;
        let repair = |standing: &CopyStanding| {
            let id = standing.copy.id;
            match standing.copy.state {
                UserPackState::Sealed | UserPackState::Opened if is_refunded => Some(CopyRepair::Revoked(id)),
                UserPackState::Sealed if standing.is_proved => Some(CopyRepair::Opened(id)),
                UserPackState::Sealed | UserPackState::Opened | UserPackState::Revoked => None,
            }
        };
        self.copies.iter().filter_map(repair).collect()
    }

    /// The nonces of the copies that a paid and completed purchase lacks.
    pub fn missing_copies(&self) -> Vec<u32> {
        if self.settlement != Settlement::Paid || self.purchase.state != PurchaseState::Completed {
            return Vec::new();
        }
        let there: BTreeSet<u32> = self.copies.iter().map(|standing| standing.copy.nonce).collect();
        (1..=self.purchase.quantity.copies()).filter(|nonce| !there.contains(nonce)).collect()
    }

    /// Opened copies without a proof: their contents cannot be reconstructed.
    pub fn unproved(&self) -> impl Iterator<Item = UserPackId> {
        let opened = self.copies.iter().filter(|standing| standing.copy.state == UserPackState::Opened);
        opened.filter(|standing| !standing.is_proved).map(|standing| standing.copy.id)
    }

    /// Whether the state of the purchase, of a copy or of its payment needs a repair.
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
    use terrace_kernel::{PriceKind, PricePart};
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
            price: PricePart::new(kind, 5, currency).unwrap(),
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
                origin: crate::CopyOrigin::Purchase(PurchaseId::from_uuid(id(1))),
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
            // The journal has no transfer, so the stored state stays.
            assert_eq!(right(PriceKind::Money, Unpaid), state, "{state}");
        }
    }

    #[test]
    fn a_pending_purchase_without_a_payment_expires_in_time() {
        for (state, expires, right) in
            [(Pending, 50, Expired), (Pending, 200, Pending), (Cancelled, 50, Cancelled)]
        {
            let mut unpaid = standing(PriceKind::Money, state, Unpaid);
            unpaid.awaited = PaymentFollowUp::Nothing;
            unpaid.purchase.expires_at = Some(Timestamp::from_micros(expires));
            assert_eq!(unpaid.right_state(NOW), right);
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
