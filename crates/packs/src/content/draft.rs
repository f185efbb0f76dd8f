//! A catalogue as content has it, before anything of it is checked.

use terrace_kernel::Timestamp;

/// A catalogue as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogueDraft {
    /// Its collectibles.
    pub collectibles: Vec<CollectibleDraft>,
    /// Its packs.
    pub packs: Vec<PackDraft>,
}

/// A collectible as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectibleDraft {
    /// Its key: what stays when everything else changes.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// The name of a rarity; it cannot change.
    pub rarity: String,
    /// The key of a team.
    pub team: Option<String>,
    /// An https address or a path.
    pub image_url: Option<String>,
    /// 1 to 1,000,000,000 copies, or any number; it cannot change.
    pub edition: Option<i64>,
}

/// A pack as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackDraft {
    /// Its key: what stays when everything else changes.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// 0 to 500 characters.
    pub description: String,
    /// An https address or a path.
    pub image_url: Option<String>,
    /// What one copy costs.
    pub price: PriceDraft,
    /// 1 to 1,000,000,000 copies for each fan, or any number.
    pub per_user_limit: Option<i64>,
    /// 1 to 1,000,000,000 copies, or any number.
    pub supply: Option<i64>,
    /// The first instant of its sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it.
    pub closes_at: Option<Timestamp>,
    /// 1 to 20 slots.
    pub slots: Vec<SlotDraft>,
    /// The name of the least rarity that every copy holds.
    pub guarantee: Option<String>,
    /// The keys of up to 1,000 collectibles, and the weight of each among those of its rarity: 1 to 1,000,000.
    pub contents: Vec<(String, i64)>,
}

/// A slot as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotDraft {
    /// The names of the rarities that it may give, and the weight of each: 1 to 1,000,000.
    pub rarities: Vec<(String, i64)>,
}

/// A price as content has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceDraft {
    /// `points`, `coins` or `money`.
    pub kind: String,
    /// 1 to 1,000,000,000.
    pub amount: i64,
    /// An ISO 4217 code, of money alone.
    pub currency: Option<String>,
}
