-- Content of a club as it was loaded last: its version, a digest of its files, and the texts that have no tables of their
-- own. There is no row until a club's content is loaded.
CREATE TABLE content (
    id integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL CHECK (version > 0),
    digest text NOT NULL,
    club text NOT NULL,
    achievements text,
    levels text,
    logo_url text,
    loaded_at timestamptz NOT NULL
);

-- Pictures of a club's content, by the SHA-256 of their bytes.
CREATE TABLE content_pictures (
    hash bytea PRIMARY KEY,
    content_type text NOT NULL,
    bytes bytea NOT NULL
);

-- Whether the content no longer contains the team.
ALTER TABLE teams ADD COLUMN is_retired boolean NOT NULL DEFAULT false;
