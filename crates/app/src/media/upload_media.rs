//! Stores an uploaded picture for a post that its uploader will create.

use crate::media::{NewUpload, StorePicture, StorePictureRefusal, UploadQuota, Uploaded};
use crate::store::{Command, UploadTx};
use std::time::Duration;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};

/// Inserts an upload of a stored picture.
pub(crate) struct UploadMedia {
    pub(crate) user: UserId,
    pub(crate) picture: StorePicture,
    /// How long the upload is kept without a post.
    pub(crate) life: Duration,
    /// The limits for uploads without a post.
    pub(crate) quota: UploadQuota,
}

impl Command for UploadMedia {
    const NAME: &'static str = "upload_media";
    type Ports = dyn UploadTx;
    type Output = Uploaded;
    type Refusal = StorePictureRefusal;

    fn run(&self, tx: &mut dyn UploadTx, ctx: &mut Ctx) -> Outcome<Uploaded, StorePictureRefusal> {
        let refused = |refusal| Err(Failure::Refused(refusal));
        // Refuses early, so that no object is stored for an account that has reached its quota. The insert decides.
        let waiting = tx.waiting_uploads(self.user)?;
        if waiting.count >= self.quota.count || waiting.bytes >= self.quota.bytes {
            return refused(StorePictureRefusal::TooManyUploads);
        }
        let hash = self.picture.keep(tx, ctx)?;
        if tx.lock_fan(self.user)?.is_none() {
            return refused(StorePictureRefusal::NoAccount);
        }
        let upload = NewUpload {
            id: ctx.new_id(),
            hash,
            uploader: self.user,
            created_at: ctx.now(),
            expires_at: ctx.now().plus(self.life),
        };
        if !tx.insert_upload(&upload, self.quota)? {
            return refused(StorePictureRefusal::TooManyUploads);
        }
        Ok(Uploaded { id: upload.id, hash })
    }
}
