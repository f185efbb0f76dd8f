//! Pictures of the demonstration content, painted in the colours of teams.

use crate::App;
use crate::demo::{Demo, DemoPost, LoadDemo, done, find, joined_at, wrong};
use crate::media::StorePicture;
use crate::store::DemoTx;
use crate::teams::Catalogue;
use std::collections::{BTreeMap, HashMap};
use terrace_art::{Colors, Motif, painting, portrait};
use terrace_kernel::{Ctx, StoreError, UserId};
use terrace_social::{PostImage, image_alt};

/// Pictures whose objects are stored.
#[derive(Default)]
pub(super) struct Pictures {
    /// By username.
    fans: BTreeMap<String, StorePicture>,
    /// By the place of the post in the content.
    posts: BTreeMap<usize, StorePicture>,
}

impl App {
    /// Paints the pictures and stores their objects. If the content is not loaded after all, the sweep removes them.
    pub(super) async fn put_demo_pictures(
        &self,
        demo: &Demo,
        catalogue: &Catalogue,
    ) -> Result<Pictures, StoreError> {
        let colors = |team: &str| {
            let [main, second] = catalogue.colors(team).ok_or_else(|| wrong(format!("no team {team:?}")))?;
            Colors::parse(main, second).map_err(wrong)
        };
        let teams: HashMap<&str, &str> =
            demo.fan.iter().map(|fan| (fan.username.as_str(), fan.favorite_team.as_str())).collect();
        let mut pictures = Pictures::default();
        for fan in demo.fan.iter().filter(|fan| fan.has_picture) {
            let painted = portrait(&fan.username, colors(&fan.favorite_team)?);
            pictures.fans.insert(fan.username.clone(), self.put_painting(painted, false).await?);
        }
        for (nth, post) in demo.post.iter().enumerate() {
            let Some(picture) = &post.picture else { continue };
            let team = match &post.team {
                Some(team) => team.as_str(),
                None => find(&teams, &post.author)?,
            };
            let motif: Motif = picture.motif.parse().map_err(wrong)?;
            let painted = painting(motif, &picture.alt, colors(team)?);
            pictures.posts.insert(nth, self.put_painting(painted, true).await?);
        }
        Ok(pictures)
    }
}

impl LoadDemo {
    /// Sets the profile pictures.
    pub(super) fn load_portraits(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        for (fan, picture) in &self.pictures.fans {
            let user = find(fans, fan)?;
            let hash = done(picture.of(user).keep(tx, ctx))?;
            tx.set_picture(user, Some(hash), joined_at(ctx))?;
        }
        Ok(())
    }

    /// Records the picture of a post, if it has one.
    pub(super) fn load_picture(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &Ctx,
        nth: usize,
        post: &DemoPost,
        author: UserId,
    ) -> Result<Option<PostImage>, StoreError> {
        let (Some(stored), Some(picture)) = (self.pictures.posts.get(&nth), &post.picture) else {
            return Ok(None);
        };
        let hash = done(stored.of(author).keep(tx, ctx))?;
        Ok(Some(PostImage { hash, alt: Some(image_alt(&picture.alt).map_err(wrong)?) }))
    }
}
