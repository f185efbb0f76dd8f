//! A description of a database schema, as the database itself reports it, for comparison with another database or with
//! the schema that the program expects.

use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::quietly;
use diesel::sql_types::{Bool, Integer, Nullable, Text};
use diesel::{QueryResult, QueryableByName, RunQueryDsl, sql_query};
use terrace_kernel::StoreError;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, QueryableByName)]
pub struct ColumnDescription {
    /// Name of the table.
    #[diesel(sql_type = Text)]
    pub table: String,
    /// Name of the column.
    #[diesel(sql_type = Text)]
    pub column: String,
    /// The database's name of the column type, such as `timestamp with time zone` or `BLOB`.
    #[diesel(sql_type = Text)]
    pub sql_type: String,
    /// Whether the column is nullable.
    #[diesel(sql_type = Bool)]
    pub nullable: bool,
    /// The position of the column in the primary key, from 1; `None` if it is not part of it.
    #[diesel(sql_type = Nullable<Integer>)]
    pub key_place: Option<i32>,
}

/// A schema, without the tables that the migrations themselves and full-text indexes use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaDescription {
    /// All columns, by table and in the order of the table.
    pub columns: Vec<ColumnDescription>,
    /// The definitions of all tables, columns, indexes, constraints, triggers and functions, and the order of the indexes
    /// of each table, sorted.
    pub definitions: Vec<String>,
}

#[derive(QueryableByName)]
struct Definition {
    #[diesel(sql_type = Text)]
    text: String,
}

const SQLITE_COLUMNS: &str = r#"
SELECT tables.name AS "table", columns.name AS "column", columns.type AS sql_type,
       columns."notnull" = 0 AS nullable, nullif(columns.pk, 0) AS key_place
FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.name IN (SELECT name FROM pragma_table_list WHERE type = 'table')
  AND tables.name NOT LIKE 'sqlite\_%' ESCAPE '\'
  AND tables.name NOT LIKE '\_\_diesel%' ESCAPE '\'
ORDER BY tables.name, columns.cid"#;

const SQLITE_DEFINITIONS: &str = r"
WITH ours AS (
    SELECT * FROM sqlite_schema
    WHERE tbl_name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT LIKE '\_\_diesel%' ESCAPE '\'
      AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
)
SELECT type || ' ' || name || ': ' || coalesce(sql, '') AS text FROM ours
UNION ALL
SELECT 'indexes of ' || ours.name || ': ' || group_concat(indexes.name, ', ' ORDER BY seq) AS text
FROM ours JOIN pragma_index_list(ours.name) AS indexes WHERE ours.type = 'table' GROUP BY ours.name
ORDER BY text";

const POSTGRES_COLUMNS: &str = r#"
SELECT tables.relname::text AS "table", columns.attname::text AS "column",
       format_type(columns.atttypid, columns.atttypmod) AS sql_type, NOT columns.attnotnull AS nullable,
       (SELECT array_position(keys.conkey, columns.attnum) FROM pg_constraint AS keys
        WHERE keys.conrelid = tables.oid AND keys.contype = 'p') AS key_place
FROM pg_class AS tables JOIN pg_attribute AS columns ON columns.attrelid = tables.oid
WHERE tables.relnamespace = current_schema()::regnamespace AND tables.relkind IN ('r', 'p')
  AND tables.relname NOT LIKE '\_\_diesel%' AND columns.attnum > 0 AND NOT columns.attisdropped
ORDER BY tables.relname COLLATE "C", columns.attnum"#;

const POSTGRES_DEFINITIONS: &str = r#"
WITH tables AS (
    SELECT oid, relname, relkind, relpersistence, reloptions FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND relname NOT LIKE '\_\_diesel%'
), definitions (text) AS (
    SELECT format('table %s: kind %s, persistence %s, options %s', relname, relkind, relpersistence, reloptions)
    FROM tables
    UNION ALL
    SELECT format('column %s.%s: %s, identity %s, default %s, collation %s', relname, attname,
                  row_number() OVER (PARTITION BY tables.oid ORDER BY attnum), attidentity,
                  pg_get_expr(adbin, adrelid), collname)
    FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    UNION ALL
    -- From PostgreSQL 18 on, NOT NULL is a constraint of its own; here it is part of the columns.
    SELECT format('constraint %s.%s: %s', relname, conname, pg_get_constraintdef(pg_constraint.oid))
    FROM tables JOIN pg_constraint ON conrelid = tables.oid AND contype <> 'n'
    UNION ALL
    SELECT format('index %s', pg_get_indexdef(indexrelid)) FROM tables JOIN pg_index ON indrelid = tables.oid
    UNION ALL
    SELECT format('indexes of %s: %s', tables.relname, string_agg(indexes.relname, ', ' ORDER BY indexrelid))
    FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class AS indexes ON indexes.oid = indexrelid
    GROUP BY tables.relname
    UNION ALL
    SELECT format('trigger %s', pg_get_triggerdef(pg_trigger.oid))
    FROM tables JOIN pg_trigger ON tgrelid = tables.oid AND NOT tgisinternal
    UNION ALL
    SELECT format('function %s', pg_get_functiondef(oid)) FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND prokind IN ('f', 'p')
)
SELECT text FROM definitions ORDER BY text COLLATE "C""#;

pub(crate) fn describe(conn: &mut Conn<'_>) -> Result<SchemaDescription, StoreError> {
    let loaded: QueryResult<(Vec<ColumnDescription>, Vec<Definition>)> = match conn {
        Conn::Pg(conn) => quietly(*conn, |conn| {
            Ok((sql_query(POSTGRES_COLUMNS).load(conn)?, sql_query(POSTGRES_DEFINITIONS).load(conn)?))
        }),
        Conn::Sqlite(conn) => quietly(*conn, |conn| {
            Ok((sql_query(SQLITE_COLUMNS).load(conn)?, sql_query(SQLITE_DEFINITIONS).load(conn)?))
        }),
    };
    let (columns, definitions) = loaded.map_err(broken("describe the schema"))?;
    Ok(SchemaDescription { columns, definitions: definitions.into_iter().map(|row| row.text).collect() })
}
