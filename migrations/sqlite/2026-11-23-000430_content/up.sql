-- Content of a club as it was loaded last: its version, a digest of its files, and the texts that have no tables of their
-- own. There is no row until a club's content is loaded.
CREATE TABLE content (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    version INTEGER NOT NULL CHECK (version > 0),
    digest TEXT NOT NULL,
    club TEXT NOT NULL,
    achievements TEXT,
    levels TEXT,
    logo_url TEXT,
    loaded_at INTEGER NOT NULL
) STRICT;

-- Pictures of a club's content, by the SHA-256 of their bytes.
CREATE TABLE content_pictures (
    hash BLOB PRIMARY KEY NOT NULL,
    content_type TEXT NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- Whether the content no longer contains the team.
ALTER TABLE teams ADD COLUMN is_retired INTEGER NOT NULL DEFAULT 0 CHECK (is_retired IN (0, 1));
