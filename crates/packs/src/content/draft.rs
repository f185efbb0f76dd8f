//! A catalogue as written in content, before validation.

use terrace_kernel::Timestamp;

/// A catalogue as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogueDraft {
    /// All collectibles, in the order of the content.
    pub collectibles: Vec<CollectibleDraft>,
    /// All packs, in the order of the content.
    pub packs: Vec<PackDraft>,
}

/// A collectible as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectibleDraft {
    /// Stable key, which identifies the collectible across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// Name of a rarity; it cannot change.
    pub rarity: String,
    /// Key of a team.
    pub team: Option<String>,
    /// An https address or a path.
    pub image_url: Option<String>,
    /// 1 to 1,000,000,000 copies; `None` for an open edition. It cannot change.
    pub edition: Option<i64>,
}

/// A pack as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackDraft {
    /// Stable key, which identifies the pack across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// 0 to 500 characters.
    pub description: String,
    /// An https address or a path.
    pub image_url: Option<String>,
    /// Price of one copy.
    pub price: PriceDraft,
    /// 1 to 1,000,000,000 copies for each fan; `None` for no limit.
    pub per_user_limit: Option<i64>,
    /// 1 to 1,000,000,000 copies; `None` for no limit.
    pub supply: Option<i64>,
    /// The first instant of the sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after the sale.
    pub closes_at: Option<Timestamp>,
    /// 1 to 20 slots.
    pub slots: Vec<SlotDraft>,
    /// Name of the minimum rarity that every copy contains at least once.
    pub guarantee: Option<String>,
    /// Keys of up to 1,000 collectibles, each with its weight among those of its rarity: 1 to 1,000,000.
    pub contents: Vec<(String, i64)>,
    /// Whether some of these fields could not be read and hold others; rules on several fields are then not checked.
    pub is_partial: bool,
}

/// A slot as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotDraft {
    /// Names of the rarities that the slot may give, each with its weight: 1 to 1,000,000.
    pub rarities: Vec<(String, i64)>,
}

/// A price as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceDraft {
    /// `points`, `coins` or `money`.
    pub kind: String,
    /// 1 to 1,000,000,000.
    pub amount: i64,
    /// An ISO 4217 code; only for money.
    pub currency: Option<String>,
}
