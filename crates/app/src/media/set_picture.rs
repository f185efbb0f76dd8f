//! Sets or removes the caller's own picture.

use crate::accounts::{ChangeProfileRefusal, OwnProfile};
use crate::execute::present;
use crate::media::{StorePicture, StorePictureRefusal};
use crate::store::{Command, PictureTx};
use terrace_kernel::{Ctx, EventKind, Failure, MediaHash, NewEvent, Outcome, StoreError, Topic, UserId};

/// Sets a stored picture as a user's profile picture. The reference to the previous one is removed at once.
pub(crate) struct SetPicture {
    pub(crate) user: UserId,
    pub(crate) picture: StorePicture,
}

impl Command for SetPicture {
    const NAME: &'static str = "set_picture";
    type Ports = dyn PictureTx;
    type Output = OwnProfile;
    type Refusal = StorePictureRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn PictureTx, ctx: &mut Ctx) -> Outcome<OwnProfile, StorePictureRefusal> {
        let hash = self.picture.keep(tx, ctx)?;
        if !change(tx, ctx, self.user, Some(hash))? {
            return Err(Failure::Refused(StorePictureRefusal::NoAccount));
        }
        present(OwnProfile::read(tx, self.user)?, "read a profile")
    }
}

/// Removes a user's profile picture; no effect if there is none.
#[derive(Debug, Clone)]
pub struct RemovePicture {
    /// The account.
    pub user: UserId,
}

impl Command for RemovePicture {
    const NAME: &'static str = "remove_picture";
    type Ports = dyn PictureTx;
    type Output = ();
    type Refusal = ChangeProfileRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn PictureTx, ctx: &mut Ctx) -> Outcome<(), ChangeProfileRefusal> {
        if change(tx, ctx, self.user, None)? {
            Ok(())
        } else {
            Err(Failure::Refused(ChangeProfileRefusal::NoAccount))
        }
    }
}

/// Changes the picture and appends the event, unless it is already set; `false` if there is no such account.
fn change(
    tx: &mut dyn PictureTx,
    ctx: &mut Ctx,
    user: UserId,
    picture: Option<MediaHash>,
) -> Result<bool, StoreError> {
    let Some(before) = tx.public_profile(user)? else { return Ok(false) };
    if before.card.picture == picture {
        return Ok(true);
    }
    if !tx.set_picture(user, picture, ctx.now())? {
        return Ok(false);
    }
    tx.append(
        &NewEvent {
            topic: Topic::Account,
            kind: EventKind::ProfileChanged,
            actor: Some(user),
            team: None,
            subject: user.as_uuid(),
            object: None,
        },
        ctx.now(),
    )?;
    Ok(true)
}
