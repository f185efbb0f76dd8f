//! Content of a club.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

pub(crate) mod schema;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::{corrupt, named};
use crate::schema::{content, content_pictures};
use crate::tx::DieselTx;
use crate::types::At;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use terrace_kernel::{MediaHash, StoreError, num};
use terrace_store::content::{ContentPicture, ContentRead, ContentWrite, StoredContent};

/// The only row.
const ONE: i32 = 1;

#[derive(Queryable, Selectable)]
#[diesel(table_name = content)]
struct ContentRow {
    version: i64,
    digest: String,
    club: String,
    achievements: Option<String>,
    levels: Option<String>,
    logo_url: Option<String>,
    loaded_at: At,
}

#[derive(Clone, Copy, Insertable, AsChangeset)]
#[diesel(table_name = content, treat_none_as_null = true)]
struct NewContent<'a> {
    version: i64,
    digest: &'a str,
    club: &'a str,
    achievements: Option<&'a str>,
    levels: Option<&'a str>,
    logo_url: Option<&'a str>,
    loaded_at: At,
}

impl ContentRead for DieselTx<'_> {
    fn stored_content(&mut self) -> Result<Option<StoredContent>, StoreError> {
        let row: Option<ContentRow> =
            on!(self.conn, |conn| content::table.select(ContentRow::as_select()).first(conn).optional())
                .map_err(broken("read the content"))?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(StoredContent {
            version: u32::try_from(row.version).map_err(|error| corrupt("content", "version", &error))?,
            digest: row.digest,
            club: row.club,
            achievements: row.achievements,
            levels: row.levels,
            logo_url: row.logo_url,
            loaded_at: row.loaded_at.0,
        }))
    }

    fn content_picture(&mut self, hash: MediaHash) -> Result<Option<ContentPicture>, StoreError> {
        let row: Option<(String, Vec<u8>)> = on!(self.conn, |conn| {
            content_pictures::table
                .find(hash.as_bytes().as_slice())
                .select((content_pictures::content_type, content_pictures::bytes))
                .first(conn)
                .optional()
        })
        .map_err(broken("read a picture of the content"))?;
        let Some((kind, bytes)) = row else { return Ok(None) };
        let kind = named("content_pictures", "content_type", &kind)?;
        Ok(Some(ContentPicture { hash, kind, bytes }))
    }
}

impl ContentWrite for DieselTx<'_> {
    fn lock_content(&mut self) -> Result<(), StoreError> {
        match &mut self.conn {
            // Reads continue; only other loads wait.
            Conn::Pg(conn) => conn.batch_execute("LOCK TABLE content IN SHARE ROW EXCLUSIVE MODE"),
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("lock the content"))
    }

    fn put_content(&mut self, stored: &StoredContent) -> Result<(), StoreError> {
        let row = NewContent {
            version: i64::from(stored.version),
            digest: &stored.digest,
            club: &stored.club,
            achievements: stored.achievements.as_deref(),
            levels: stored.levels.as_deref(),
            logo_url: stored.logo_url.as_deref(),
            loaded_at: At(stored.loaded_at),
        };
        on!(self.conn, |conn| {
            diesel::insert_into(content::table)
                .values((content::id.eq(ONE), row))
                .on_conflict(content::id)
                .do_update()
                .set(row)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write the content"))
    }

    fn put_content_picture(&mut self, picture: &ContentPicture) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::insert_into(content_pictures::table)
                .values((
                    content_pictures::hash.eq(picture.hash.as_bytes().as_slice()),
                    content_pictures::content_type.eq(picture.kind.as_str()),
                    content_pictures::bytes.eq(&picture.bytes),
                ))
                .on_conflict(content_pictures::hash)
                .do_nothing()
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a picture of the content"))
    }

    fn remove_content_pictures(&mut self, keep: &[MediaHash]) -> Result<u64, StoreError> {
        let keep: Vec<&[u8]> = keep.iter().map(|hash| hash.as_bytes().as_slice()).collect();
        let others = content_pictures::table.filter(content_pictures::hash.ne_all(keep));
        on!(self.conn, |conn| diesel::delete(others).execute(conn))
            .map(num::to_u64)
            .map_err(broken("remove pictures of the content"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database};
    use terrace_store::media::ImageType;

    on_each_database! {
        content_is_one_row_and_pictures_are_kept_by_their_hash,
    }

    fn content_is_one_row_and_pictures_are_kept_by_their_hash(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert_eq!(tx.stored_content().unwrap(), None);
        let mut stored = StoredContent {
            version: 1,
            digest: "ab".to_owned(),
            club: "club".to_owned(),
            achievements: Some("a".to_owned()),
            levels: None,
            logo_url: None,
            loaded_at: at(5),
        };
        for version in [1, 4_000_000_000] {
            tx.lock_content().unwrap();
            stored.version = version;
            stored.achievements = None;
            tx.put_content(&stored).unwrap();
            assert_eq!(tx.stored_content().unwrap().as_ref(), Some(&stored));
        }
        let picture = |n: u8| ContentPicture {
            hash: MediaHash::from_bytes([n; 32]),
            kind: ImageType::Png,
            bytes: vec![n, 0],
        };
        for n in [1, 1, 2, 3] {
            tx.put_content_picture(&picture(n)).unwrap();
        }
        assert_eq!(tx.content_picture(picture(2).hash).unwrap(), Some(picture(2)));
        assert_eq!(tx.remove_content_pictures(&[picture(2).hash]).unwrap(), 2);
        assert_eq!(tx.content_picture(picture(1).hash).unwrap(), None);
        assert_eq!(tx.content_picture(picture(2).hash).unwrap(), Some(picture(2)));
    }
}
