//! Databases that were migrated with the earlier migrations, which one migration per area has replaced.

use diesel::connection::SimpleConnection;
use diesel::result::Error;
use terrace_kernel::StoreError;

/// The versions of the earlier migrations. Together they made the schema that the replacements make.
pub const EARLIER_VERSIONS: [&str; 20] = [
    "20261121000001",
    "20261121000002",
    "20261121000003",
    "20261121000020",
    "20261121000030",
    "20261121000040",
    "20261121000050",
    "20261121000055",
    "20261121000060",
    "20261121000070",
    "20261121000075",
    "20261121000076",
    "20261121000080",
    "20261121000090",
    "20261121000095",
    "20261121000100",
    "20261121000110",
    "20261121000120",
    "20261122000130",
    "20261122000140",
];

/// The newest of the migrations that replace them. Later ones change the schema.
const LAST_REPLACEMENT: &str = "20261122000330";

pub(crate) fn is_earlier(version: &str) -> bool {
    EARLIER_VERSIONS.contains(&version)
}

/// Whether exactly the earlier migrations are applied.
///
/// # Errors
///
/// Only some of them are, or others besides: which tables there are is not known then.
pub(crate) fn is_adoptable(applied: &[String]) -> Result<bool, StoreError> {
    if !applied.iter().any(|version| is_earlier(version)) {
        return Ok(false);
    }
    let is_complete = EARLIER_VERSIONS.iter().all(|version| applied.iter().any(|applied| applied == version));
    let (found, all) = (applied.len(), EARLIER_VERSIONS.len());
    if is_complete && found == all {
        return Ok(true);
    }
    let words = format!(
        "an earlier version of this program migrated the database only in part (recorded migrations: {found}, expected: \
         exactly its {all}): start the previous version once, which applies the others, and then this one"
    );
    Err(StoreError::defect("migrate", words))
}

/// Records the replacements among the migrations of this program, `known`, in the place of the earlier ones. Touches nothing
/// else.
pub(crate) fn adopt(conn: &mut impl SimpleConnection, known: &[String]) -> Result<Vec<String>, Error> {
    let replacements: Vec<_> =
        known.iter().filter(|version| version.as_str() <= LAST_REPLACEMENT).cloned().collect();
    let rows: Vec<_> = replacements.iter().map(|version| format!("('{version}')")).collect();
    conn.batch_execute(&format!(
        "DELETE FROM __diesel_schema_migrations; INSERT INTO __diesel_schema_migrations (version) VALUES {}",
        rows.join(", ")
    ))?;
    log::info!(
        "recorded the {} migrations that replace the {} of the earlier version",
        replacements.len(),
        EARLIER_VERSIONS.len()
    );
    Ok(replacements)
}
