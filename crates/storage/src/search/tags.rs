//! Finds tags by their beginning.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::overfull;
use crate::search::{reader_key, visible_post};
use crate::tx::DieselTx;
use crate::types::Uid;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::sync::LazyLock;
use terrace_kernel::{Limit, Page, StoreError, UserId};
use terrace_social::Tag;

/// The tags from `$1` on that come after `$2` and before `$3`, in their order, each found by one lookup after the one
/// before. `{tag}` compares a tag byte by byte.
fn statement(collation: &str) -> String {
    let visible = visible_post("x.post_id", "$4");
    format!(
        "WITH RECURSIVE found (tag) AS (\
            SELECT (SELECT t.tag FROM post_topics AS t \
                WHERE t.tag{collation} >= $1 AND t.tag{collation} > $2 ORDER BY t.tag{collation} LIMIT 1) \
            UNION ALL \
            SELECT (SELECT t.tag FROM post_topics AS t WHERE t.tag{collation} > found.tag \
                ORDER BY t.tag{collation} LIMIT 1) \
            FROM found WHERE found.tag{collation} < $3) \
         SELECT found.tag AS tag FROM found WHERE found.tag{collation} < $3 \
            AND (SELECT TRUE FROM post_topics AS x WHERE x.tag{collation} = found.tag AND {visible} LIMIT 1) \
         LIMIT $5"
    )
}

static PG: LazyLock<String> = LazyLock::new(|| statement(" COLLATE \"C\""));
static SQLITE: LazyLock<String> = LazyLock::new(|| statement(""));

impl DieselTx<'_> {
    pub(super) fn find_tags(
        &mut self,
        tag: &Tag,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&Tag>,
    ) -> Result<Page<Tag, Tag>, StoreError> {
        let sql = match self.conn {
            Conn::Pg(_) => &*PG,
            Conn::Sqlite(_) => &*SQLITE,
        };
        let end = format!("{tag}{}", char::MAX);
        let rows: Vec<String> = on!(self.conn, |conn| {
            Numbered::<_, Text>::typed(
                sql,
                (
                    tag.as_str().into_sql::<Text>(),
                    after.map_or("", Tag::as_str).into_sql::<Text>(),
                    end.as_str().into_sql::<Text>(),
                    reader_key(reader).into_sql::<Uid>(),
                    overfull(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("find tags"))?;
        let tags = rows.into_iter().map(Tag::stored).collect();
        Ok(Page::from_overfull(tags, limit, Tag::clone))
    }
}
