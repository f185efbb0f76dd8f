//! Pictures and uploads.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::{corrupt, digest, named};
use crate::schema::{media, media_uploads};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use terrace_kernel::{MediaHash, MediaId, StoreError, Timestamp, UserId, num};
use terrace_store::ObjectKey;
use terrace_store::media::{
    MediaRead, MediaWrite, NewMedia, NewUpload, StoredMedia, UploadQuota, WaitingUploads,
};

/// The condition that any row refers to a picture. This includes profiles and posts that an operator may restore, reports
/// until they are decided, and expired uploads, which are removed first.
macro_rules! used {
    () => {
        "(EXISTS (SELECT 1 FROM users WHERE users.picture = media.hash AND users.status <> 'deleted') \
         OR EXISTS (SELECT 1 FROM posts WHERE posts.image = media.hash AND posts.deleted_at IS NULL) \
         OR EXISTS (SELECT 1 FROM content_reports WHERE content_reports.image = media.hash) \
         OR EXISTS (SELECT 1 FROM media_uploads WHERE media_uploads.hash = media.hash) \
         OR EXISTS (SELECT 1 FROM media AS whole WHERE whole.thumbnail = media.hash))"
    };
}

/// The condition that a picture is visible: in a profile or a post of an active account, or as an upload that has not
/// expired.
macro_rules! visible {
    ($media:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM users WHERE users.picture = ",
            $media,
            ".hash AND users.status = 'active') \
            OR EXISTS (SELECT 1 FROM posts JOIN users ON users.id = posts.author_id WHERE posts.image = ",
            $media,
            ".hash AND posts.deleted_at IS NULL AND users.status = 'active') \
            OR EXISTS (SELECT 1 FROM media_uploads WHERE media_uploads.hash = ",
            $media,
            ".hash AND media_uploads.expires_at > $2))"
        )
    };
}

/// A visible picture, or the thumbnail of one.
const FIND: &str = concat!(
    "SELECT object_id, content_type, byte_size FROM media WHERE hash = $1 AND (",
    visible!("media"),
    " OR EXISTS (SELECT 1 FROM media AS whole WHERE whole.thumbnail = media.hash AND ",
    visible!("whole"),
    "))"
);

const MARK: &str = concat!(
    "UPDATE media SET unused_since = $1 WHERE unused_since IS NULL AND hash >= $2 AND hash <= $3 AND NOT ",
    used!()
);

const UNMARK: &str = concat!(
    "UPDATE media SET unused_since = NULL WHERE hash IN \
     (SELECT hash FROM media WHERE unused_since IS NOT NULL AND ",
    used!(),
    " LIMIT $1)"
);

/// The conditions are repeated in the outer statement: PostgreSQL evaluates them again for a row that was changed while
/// it waited, but does not repeat the subquery. A picture that is held in the meantime is unmarked and kept.
const REMOVE: &str = concat!(
    "DELETE FROM media WHERE unused_since <= $1 AND NOT ",
    used!(),
    " AND hash IN (SELECT hash FROM media WHERE unused_since <= $1 AND NOT ",
    used!(),
    " ORDER BY unused_since, hash LIMIT $2) RETURNING hash, object_id, thumbnail"
);

const INSERT: &str = "INSERT INTO media \
    (hash, object_id, content_type, byte_size, width, height, uploader_id, created_at, thumbnail) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (hash) DO UPDATE \
    SET unused_since = NULL, thumbnail = coalesce(media.thumbnail, excluded.thumbnail)";

const HOLD: &str =
    "UPDATE media SET unused_since = NULL WHERE hash = $1 AND thumbnail IS NOT DISTINCT FROM $2";

/// The size of a picture with its thumbnail.
macro_rules! bytes {
    () => {
        "media.byte_size + coalesce((SELECT small.byte_size FROM media AS small \
         WHERE small.hash = media.thumbnail), 0)"
    };
}

const WAITING: &str = concat!(
    "SELECT count(*) AS uploads, CAST(coalesce(sum(",
    bytes!(),
    "), 0) AS bigint) AS bytes FROM media_uploads JOIN media ON media.hash = media_uploads.hash \
     WHERE media_uploads.uploader_id = $1"
);

const INSERT_UPLOAD: &str = concat!(
    "INSERT INTO media_uploads (id, hash, uploader_id, created_at, expires_at) \
     SELECT $1, $2, $3, $4, $5 FROM (SELECT count(*) AS uploads, coalesce(sum(",
    bytes!(),
    "), 0) AS bytes FROM media_uploads JOIN media ON media.hash = media_uploads.hash \
     WHERE media_uploads.uploader_id = $3) AS waiting \
     WHERE waiting.uploads < $6 AND waiting.bytes + (SELECT ",
    bytes!(),
    " FROM media WHERE media.hash = $2) <= $7"
);

const EXPIRED: &str = "DELETE FROM media_uploads WHERE id IN \
    (SELECT id FROM media_uploads WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)";

/// The uploads that `sweep_uploads` deletes.
pub(crate) const EXPIRED_UPLOADS: &str = "SELECT COUNT(*) AS count FROM media_uploads WHERE expires_at <= $1";

/// The pictures that `remove_unused_media` deletes.
pub(crate) const UNUSED_PICTURES: &str =
    concat!("SELECT COUNT(*) AS count FROM media WHERE unused_since <= $1 AND NOT ", used!());

#[derive(QueryableByName)]
struct FoundRow {
    #[diesel(sql_type = Uid)]
    object_id: Key,
    #[diesel(sql_type = Text)]
    content_type: String,
    #[diesel(sql_type = BigInt)]
    byte_size: i64,
}

#[derive(Queryable, QueryableByName)]
struct ObjectRow {
    #[diesel(sql_type = Binary)]
    hash: Vec<u8>,
    #[diesel(sql_type = Uid)]
    object_id: Key,
}

impl ObjectRow {
    fn into_key(self) -> Result<ObjectKey, StoreError> {
        Ok(ObjectKey {
            hash: MediaHash::from_bytes(digest("media", "hash", self.hash)?),
            id: self.object_id.0,
        })
    }
}

/// A removed picture.
#[derive(QueryableByName)]
struct RemovedRow {
    #[diesel(embed)]
    object: ObjectRow,
    #[diesel(sql_type = Nullable<Binary>)]
    thumbnail: Option<Vec<u8>>,
}

#[derive(QueryableByName)]
struct WaitingRow {
    #[diesel(sql_type = BigInt)]
    uploads: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

impl MediaRead for DieselTx<'_> {
    fn media(&mut self, hash: MediaHash, now: Timestamp) -> Result<Option<StoredMedia>, StoreError> {
        let row: Option<FoundRow> = on!(self.conn, |conn| {
            diesel::sql_query(FIND)
                .bind::<Binary, _>(hash.as_bytes().as_slice())
                .bind::<Instant, _>(At(now))
                .get_result(conn)
                .optional()
        })
        .map_err(broken("find a picture"))?;
        let Some(FoundRow { object_id, content_type, byte_size }) = row else { return Ok(None) };
        Ok(Some(StoredMedia {
            object: ObjectKey { hash, id: object_id.0 },
            kind: named("media", "content_type", &content_type)?,
            size: u64::try_from(byte_size).map_err(|error| corrupt("media", "byte_size", &error))?,
        }))
    }

    fn known_objects(&mut self, objects: &[ObjectKey]) -> Result<Vec<ObjectKey>, StoreError> {
        let hashes = objects.iter().map(|object| object.hash.as_bytes().as_slice());
        let rows: Vec<ObjectRow> = on!(self.conn, |conn| {
            media::table.filter(media::hash.eq_any(hashes)).select((media::hash, media::object_id)).load(conn)
        })
        .map_err(broken("look objects up"))?;
        let known = rows.into_iter().map(ObjectRow::into_key).collect::<Result<Vec<_>, _>>()?;
        Ok(objects.iter().copied().filter(|object| known.contains(object)).collect())
    }

    fn waiting_uploads(&mut self, uploader: UserId) -> Result<WaitingUploads, StoreError> {
        let WaitingRow { uploads, bytes } = on!(self.conn, |conn| {
            diesel::sql_query(WAITING).bind::<Uid, _>(Key::of(uploader)).get_result(conn)
        })
        .map_err(broken("count the uploads of an account"))?;
        Ok(WaitingUploads {
            count: u32::try_from(uploads).map_err(|error| corrupt("media_uploads", "id", &error))?,
            bytes: u64::try_from(bytes).map_err(|error| corrupt("media", "byte_size", &error))?,
        })
    }
}

impl MediaWrite for DieselTx<'_> {
    fn hold_media(&mut self, hash: MediaHash, thumbnail: Option<MediaHash>) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(HOLD)
                .bind::<Binary, _>(hash.as_bytes().as_slice())
                .bind::<Nullable<Binary>, _>(thumbnail.as_ref().map(|hash| hash.as_bytes().as_slice()))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("hold a picture"))
    }

    fn insert_media(&mut self, new: &NewMedia, at: Timestamp) -> Result<(), StoreError> {
        let NewMedia { object, kind, size, width, height, thumbnail, uploader } = new;
        on!(self.conn, |conn| {
            diesel::sql_query(INSERT)
                .bind::<Binary, _>(object.hash.as_bytes().as_slice())
                .bind::<Uid, _>(Key(object.id))
                .bind::<Text, _>(kind.as_str())
                .bind::<BigInt, _>(num::to_i64(*size))
                .bind::<BigInt, _>(i64::from(*width))
                .bind::<BigInt, _>(i64::from(*height))
                .bind::<Uid, _>(Key::of(*uploader))
                .bind::<Instant, _>(At(at))
                .bind::<Nullable<Binary>, _>(thumbnail.as_ref().map(|hash| hash.as_bytes().as_slice()))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("insert a picture"))
    }

    fn insert_upload(&mut self, upload: &NewUpload, quota: UploadQuota) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(INSERT_UPLOAD)
                .bind::<Uid, _>(Key::of(upload.id))
                .bind::<Binary, _>(upload.hash.as_bytes().as_slice())
                .bind::<Uid, _>(Key::of(upload.uploader))
                .bind::<Instant, _>(At(upload.created_at))
                .bind::<Instant, _>(At(upload.expires_at))
                .bind::<BigInt, _>(i64::from(quota.count))
                .bind::<BigInt, _>(num::to_i64(quota.bytes))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("insert an upload"))
    }

    fn take_upload(
        &mut self,
        id: MediaId,
        uploader: UserId,
        now: Timestamp,
    ) -> Result<Option<MediaHash>, StoreError> {
        let good = media_uploads::table
            .filter(media_uploads::id.eq(Key::of(id)))
            .filter(media_uploads::uploader_id.eq(Key::of(uploader)))
            .filter(media_uploads::expires_at.gt(At(now)));
        let hash: Option<Vec<u8>> = on!(self.conn, |conn| {
            diesel::delete(good).returning(media_uploads::hash).get_result(conn).optional()
        })
        .map_err(broken("take an upload"))?;
        hash.map(|hash| Ok(MediaHash::from_bytes(digest("media_uploads", "hash", hash)?))).transpose()
    }

    fn remove_uploads_of(&mut self, uploader: UserId) -> Result<u64, StoreError> {
        let own = media_uploads::table.filter(media_uploads::uploader_id.eq(Key::of(uploader)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn))
            .map(num::to_u64)
            .map_err(broken("remove an account's uploads"))
    }

    fn sweep_uploads(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.sweep("sweep uploads", EXPIRED, before, limit)
    }

    fn unmark_used_media(&mut self, limit: u32) -> Result<u64, StoreError> {
        on!(self.conn, |conn| diesel::sql_query(UNMARK).bind::<BigInt, _>(i64::from(limit)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("unmark pictures"))
    }

    fn mark_unused_media(&mut self, shard: u8, now: Timestamp) -> Result<u64, StoreError> {
        let (mut first, mut last) = ([0; 32], [u8::MAX; 32]);
        [first[0], last[0]] = [shard, shard];
        on!(self.conn, |conn| {
            let (first, last) = (first.as_slice().into_sql::<Binary>(), last.as_slice().into_sql::<Binary>());
            Numbered::new(MARK, (At(now).into_sql::<Instant>(), first, last)).execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("mark unused pictures"))
    }

    fn remove_unused_media(&mut self, before: Timestamp, limit: u32) -> Result<Vec<ObjectKey>, StoreError> {
        let rows: Vec<RemovedRow> = on!(self.conn, |conn| {
            diesel::sql_query(REMOVE)
                .bind::<Instant, _>(At(before))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("remove unused pictures"))?;
        // The next call removes their thumbnails, unless something else refers to them.
        let thumbnails: Vec<_> = rows.iter().filter_map(|row| row.thumbnail.clone()).collect();
        if !thumbnails.is_empty() {
            let unused = media::table
                .filter(media::hash.eq_any(thumbnails))
                .filter(dsl::sql::<Bool>(concat!("NOT ", used!())));
            on!(self.conn, |conn| {
                diesel::update(unused).set(media::unused_since.eq(At(before))).execute(conn)
            })
            .map_err(broken("mark thumbnails as unused"))?;
        }
        rows.into_iter().map(|row| row.object.into_key()).collect()
    }
}

#[cfg(test)]
mod tests;
