//! Keeps a stored picture for a post that its uploader will create.

use super::{StorePicture, StorePictureRefusal};
use crate::execute::Command;
use crate::media::{NewUpload, Uploaded};
use crate::store::Tx;
use std::time::Duration;
use terrace_kernel::{Ctx, Outcome, UserId};

/// Keeps a stored picture for a post.
pub(crate) struct UploadMedia {
    pub(crate) user: UserId,
    pub(crate) picture: StorePicture,
    /// How long it waits.
    pub(crate) life: Duration,
}

impl Command for UploadMedia {
    const NAME: &'static str = "upload_media";
    type Output = Uploaded;
    type Refusal = StorePictureRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Uploaded, StorePictureRefusal> {
        let hash = self.picture.keep(tx, ctx)?;
        let upload = NewUpload {
            id: ctx.new_id(),
            hash,
            uploader: self.user,
            created_at: ctx.now(),
            expires_at: ctx.now().plus(self.life),
        };
        tx.insert_upload(&upload)?;
        Ok(Uploaded { id: upload.id, hash })
    }
}
