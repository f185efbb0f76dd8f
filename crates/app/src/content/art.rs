//! Pictures that are drawn for teams, packs and collectibles without a picture of their own.

use crate::App;
use crate::teams::GetTeam;
use sha2::{Digest, Sha256};
use terrace_art::{Card, Colors, Subject, Wrapper};
use terrace_kernel::{Failure, StoreError, hex};
use terrace_packs::{Collectible, Pack};

/// The path of a team's crest. It holds all that the drawing depends on.
pub fn crest_url(key: &str, [main, second]: &[String; 2]) -> String {
    let digits = |color: &str| color.trim_start_matches('#').to_ascii_lowercase();
    format!("/content/crests/{key}-{}-{}.svg", digits(main), digits(second))
}

/// Draws the crest that a file name of [`crest_url`] describes; `None` for any other name.
pub fn crest(file: &str) -> Option<String> {
    let name = file.strip_suffix(".svg")?;
    let (name, second) = name.rsplit_once('-')?;
    let (key, main) = name.rsplit_once('-')?;
    let colors = Colors::parse(&format!("#{main}"), &format!("#{second}")).ok()?;
    let is_key = (1..=60).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    is_key.then(|| terrace_art::crest(key, colors))
}

/// The path of a pack's picture. Its version changes with what the drawing shows.
pub(crate) fn pack_url(key: &str, name: &str) -> String {
    format!("/content/packs/{}/{key}.svg", version(&[name]))
}

/// The path of a collectible's picture. Its version changes with what the drawing shows.
pub(crate) fn collectible_url(key: &str, name: &str, rarity: &str) -> String {
    format!("/content/collectibles/{}/{key}.svg", version(&[name, rarity]))
}

fn version(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\n"));
    hex::encode(digest.get(..4).unwrap_or_default())
}

impl App {
    /// Draws the wrapper of the pack with this key; `None` if there is no such pack.
    pub async fn draw_pack(&self, key: &str) -> Result<Option<String>, StoreError> {
        let book = self.pack_book().await?;
        let Some(pack) = book.packs().iter().find(|pack| pack.key.as_str() == key) else { return Ok(None) };
        let colors = self.club().await?.drawing_colors();
        Ok(Some(terrace_art::wrapper(&Wrapper {
            name: &pack.name,
            note: &note(pack),
            colors,
            subject: Subject::of_key(key),
        })))
    }

    /// Draws the card of the collectible with this key; `None` if there is no such collectible.
    pub async fn draw_collectible(&self, key: &str) -> Result<Option<String>, StoreError> {
        let book = self.pack_book().await?;
        let Some((number, collectible)) = book.numbered(key) else { return Ok(None) };
        let colors = match self.team_colors(collectible).await? {
            Some(colors) => colors,
            None => self.club().await?.drawing_colors(),
        };
        Ok(Some(terrace_art::card(&Card {
            number,
            name: &collectible.name,
            rarity: collectible.rarity,
            colors,
            subject: Subject::of_key(key),
        })))
    }

    async fn team_colors(&self, collectible: &Collectible) -> Result<Option<Colors>, StoreError> {
        let Some(team) = collectible.team else { return Ok(None) };
        match self.query(GetTeam { team }).await {
            Ok(team) => {
                let [main, second] = &team.colors;
                Ok(Colors::parse(main, second).ok())
            }
            Err(Failure::Refused(_)) => Ok(None),
            Err(Failure::Broken(error)) => Err(error),
        }
    }
}

/// The line under the name of a pack.
fn note(pack: &Pack) -> String {
    let count = pack.slots.len();
    let cards = if count == 1 { "1 card".to_owned() } else { format!("{count} cards") };
    match pack.guarantee {
        Some(guarantee) => format!("{cards}, 1 {} or better", guarantee.at_least),
        None => cards,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_crest_describes_it() {
        let colors = ["#EF0107".to_owned(), "#ffffff".to_owned()];
        let url = crest_url("real-madrid", &colors);
        assert_eq!(url, "/content/crests/real-madrid-ef0107-ffffff.svg");
        let file = url.strip_prefix("/content/crests/").unwrap();
        assert!(crest(file).is_some_and(|svg| svg.contains("#ef0107")));
        for bad in [
            "",
            ".svg",
            "a-ef0107.svg",
            "-ef0107-ffffff.svg",
            "a-ef0107-ffffff",
            "A-ef0107-ffffff.svg",
            "a-ef0107-red.svg",
        ] {
            assert_eq!(crest(bad), None, "{bad}");
        }
    }
}
