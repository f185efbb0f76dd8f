//! The content for a crowd: quests, packs, one of which sells out, and a product.

use super::ranks::with_data;
use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use std::fmt::Write;
use terrace_testkit::app::shop::ShopContent;
use terrace_testkit::app::{PackContent, QuestContent};
use terrace_testkit::{Client, Invocation, Program};

/// The number of quests: more than a crowd completes.
const QUESTS: usize = 60;

/// A pack that does not sell out during the test, with a numbered edition, and one that soon does.
const PACKS: &str = r#"
    [[collectible]]
    key = "scarf"
    name = "Scarf"
    rarity = "common"

    [[collectible]]
    key = "ticket"
    name = "Numbered ticket"
    rarity = "rare"
    edition = 100000

    [[collectible]]
    key = "cup"
    name = "Numbered cup"
    rarity = "legendary"
    edition = 30

    [[pack]]
    key = "a-season"
    name = "A season"
    price = { kind = "points", amount = 2 }
    slots = [{ common = 1 }, { common = 1, rare = 3 }]

    [pack.contents]
    scarf = 1
    ticket = 1

    [[pack]]
    key = "the-final"
    name = "The final"
    price = { kind = "points", amount = 5 }
    slots = [{ legendary = 1 }]

    [pack.contents]
    cup = 1
"#;

/// A product that does not sell out.
const PRODUCTS: &str = r#"
    [[product]]
    key = "programme"
    name = "Programme"
    kind = "digital"

    [[product.variant]]
    key = "one"
    name = "One"
    stock = 100000
    prices = [[{ kind = "points", amount = 3 }]]
"#;
/// What the product costs in points.
pub(super) const PRICE: i64 = 3;
/// The stock of the product.
const STOCK: usize = 100_000;

#[derive(Debug)]
pub(super) struct Step {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) points: i64,
}

#[derive(Debug)]
pub(super) struct Quest {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) bonus: i64,
    /// Two.
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) struct Pack {
    pub(super) id: String,
    pub(super) price: i64,
}

/// The content that a crowd finds. Without content there are neither quests nor packs.
#[derive(Debug, Default)]
pub(super) struct World {
    /// The ids of all fans in the crowd.
    pub(super) fans: Vec<String>,
    pub(super) quests: Vec<Quest>,
    /// Empty, or the pack that lasts and the one that sells out.
    pub(super) packs: Vec<Pack>,
    /// The id of the variant that the shop sells; empty without content.
    pub(super) variant: String,
}

impl World {
    /// Fills a migrated database while no program serves.
    pub(super) fn furnish(invocation: &Invocation, url: &str) -> Result<()> {
        // Creates the tables.
        invocation.serve()?.stop()?;
        let (quests, packs) = (QuestContent::parse(&quests())?, PackContent::parse(PACKS)?);
        let products = ShopContent::parse(PRODUCTS, "")?;
        with_data(url, async |app| {
            app.load_quests(quests).await.map_err(|failure| anyhow!("{failure:?}"))?;
            app.load_packs(packs).await.map_err(|failure| anyhow!("{failure:?}"))?;
            app.load_products(products).await.map_err(|failure| anyhow!("{failure:?}"))?;
            Ok(())
        })?
    }

    /// The content of a running program.
    pub(super) fn of(program: &Program) -> Result<Self> {
        let client = program.client();
        let quests = client.get("/api/quests").expect(200).list("/quests");
        let packs = client.get("/api/packs").expect(200).list("/packs");
        let products = client.get("/api/products").expect(200).list("/products");
        let mut variants = products.iter().map(|product| text(&product["variants"][0], "id"));
        let pack = |key: &str| -> Option<Pack> {
            let pack = packs.iter().find(|pack| pack["key"] == key)?;
            Some(Pack { id: text(pack, "id"), price: pack["price"]["amount"].as_i64()? })
        };
        Ok(Self {
            fans: Vec::new(),
            quests: quests.iter().map(quest).collect::<Result<_>>()?,
            packs: ["a-season", "the-final"].into_iter().filter_map(pack).collect(),
            variant: variants.next().unwrap_or_default(),
        })
    }

    pub(super) fn quest(&self, nth: usize) -> Result<&Quest> {
        self.quests.get(nth).context("no such quest")
    }

    /// How many units of the product were taken and not returned.
    pub(super) fn taken(&self, client: &Client) -> usize {
        if self.variant.is_empty() {
            return 0;
        }
        let remaining = client.get("/api/products").expect(200).at("/products/0/variants/0/remaining");
        let remaining = remaining.as_u64().and_then(|units| usize::try_from(units).ok());
        STOCK - remaining.expect("a limited stock")
    }

    /// How many were minted of each numbered edition.
    pub(super) fn minted(&self, client: &Client) -> Vec<(String, u64)> {
        let contents =
            |pack: &Pack| client.get(&format!("/api/packs/{}", pack.id)).expect(200).list("/pack/contents");
        let minted = |entry: &Value| Some((text(&entry["collectible"], "id"), entry["minted"].as_u64()?));
        let entries: Vec<Value> = self.packs.iter().flat_map(contents).collect();
        entries.iter().filter(|entry| entry["edition"].is_u64()).filter_map(minted).collect()
    }
}

fn quests() -> String {
    (0..QUESTS).fold(String::new(), |mut text, nth| {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "[[quest]]\nkey = \"q{nth}\"\ntitle = \"Quest {nth}\"\ncadence = \"once\"\nbonus = 5\n\
             [[quest.step]]\nkey = \"one\"\ntitle = \"Quest {nth}, one\"\npoints = 3\n\
             [[quest.step]]\nkey = \"two\"\ntitle = \"Quest {nth}, two\"\npoints = 2\n"
        );
        text
    })
}

fn quest(quest: &Value) -> Result<Quest> {
    let steps = quest["steps"].as_array().context("no steps")?;
    let step = |step: &Value| Step {
        id: text(step, "id"),
        title: text(step, "title"),
        points: step["points"].as_i64().unwrap_or_default(),
    };
    Ok(Quest {
        id: text(quest, "id"),
        title: text(quest, "title"),
        bonus: quest["bonus"].as_i64().unwrap_or_default(),
        steps: steps.iter().map(step).collect(),
    })
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
