//! What is in a cart, and how the carts of a fan become one.

use crate::{Country, MethodKey, PriceId, Stock, VariantId};
use terrace_kernel::text::{TextError, line};

/// The most units of a line.
pub const MOST_UNITS: u32 = 20;
/// The most lines of a cart.
pub const MOST_LINES: usize = 50;
/// How long a cart stays after its last change.
pub const CART_LIFE: std::time::Duration = std::time::Duration::from_hours(24 * 90);

/// A line of a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartItem {
    /// What is to be bought.
    pub variant: VariantId,
    /// The price that was chosen.
    pub price: PriceId,
    /// 1 to 20 units.
    pub quantity: u32,
}

/// Where an order is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name of the recipient.
    pub name: String,
    /// Street and number.
    pub line1: String,
    /// Further details.
    pub line2: Option<String>,
    /// 1 to 20 characters.
    pub postal_code: String,
    /// Name of the city.
    pub city: String,
    /// Region or state.
    pub region: Option<String>,
    /// The country, which decides on methods and taxes.
    pub country: Country,
}

/// Validates a line of an address: 1 to 120 characters.
pub fn address_line(text: &str) -> Result<String, TextError> {
    line(text, 1, 120)
}

/// Validates a postal code: 1 to 20 characters.
pub fn postal_code(text: &str) -> Result<String, TextError> {
    line(text, 1, 20)
}

/// How and where a cart is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shipping {
    /// Key of the method.
    pub method: MethodKey,
    /// Where it is sent.
    pub address: Address,
}

/// A cart as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredCart {
    /// The lines, the oldest first, each with the stock of its variant if that is limited.
    pub items: Vec<(CartItem, Option<Stock>)>,
    /// How and where it is to be sent.
    pub shipping: Option<Shipping>,
}

/// Merges lines into a cart: of each variant, the greater quantity counts, and the price that is in the cart stays. So
/// merging the same lines twice equals merging them once. Returns the lines to write and those for which there is no
/// room.
pub fn merge(cart: &[CartItem], lines: &[CartItem]) -> (Vec<CartItem>, Vec<CartItem>) {
    let mut now: Vec<CartItem> = cart.to_vec();
    let (mut written, mut skipped): (Vec<CartItem>, Vec<CartItem>) = (Vec::new(), Vec::new());
    for line in lines {
        let is_full = now.len() >= MOST_LINES;
        let merged = match now.iter_mut().find(|item| item.variant == line.variant) {
            Some(item) if item.quantity >= line.quantity => continue,
            Some(item) => {
                item.quantity = line.quantity;
                *item
            }
            None if is_full => {
                skipped.push(*line);
                continue;
            }
            None => {
                now.push(*line);
                *line
            }
        };
        written.retain(|item| item.variant != merged.variant);
        written.push(merged);
    }
    (written, skipped)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use terrace_kernel::Uuid;

    pub(crate) fn item(variant: u128, quantity: u32) -> CartItem {
        CartItem {
            variant: VariantId::from_uuid(Uuid::from_u128(variant)),
            price: PriceId::from_uuid(Uuid::from_u128(variant * 10)),
            quantity,
        }
    }

    fn items() -> impl Strategy<Value = Vec<CartItem>> {
        proptest::collection::vec(
            (0_u128..70, 1_u32..=MOST_UNITS).prop_map(|(nth, units)| item(nth, units)),
            0..60,
        )
    }

    proptest! {
        #[test]
        fn merging_twice_equals_merging_once(cart in items(), lines in items()) {
            let apply = |cart: &[CartItem]| {
                let (written, skipped) = merge(cart, &lines);
                let mut now: BTreeMap<_, _> = cart.iter().map(|one| (one.variant, *one)).collect();
                now.extend(written.into_iter().map(|one| (one.variant, one)));
                (now.into_values().collect::<Vec<_>>(), skipped)
            };
            let cart: BTreeMap<_, _> = cart.into_iter().take(MOST_LINES).map(|one| (one.variant, one)).collect();
            let cart: Vec<_> = cart.into_values().collect();
            let (once, skipped) = apply(&cart);
            let (twice, again) = apply(&once);
            prop_assert_eq!(&once, &twice);
            prop_assert_eq!(skipped, again);
            prop_assert!(once.len() <= MOST_LINES);
            for before in &cart {
                let now = once.iter().find(|one| one.variant == before.variant).expect("no line goes");
                prop_assert!(now.quantity >= before.quantity && now.price == before.price);
            }
        }
    }
}
