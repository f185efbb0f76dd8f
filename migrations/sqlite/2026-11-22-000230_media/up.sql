-- Pictures whose bytes are in the media store, by the SHA-256 of those bytes. `object_id` is the last part of the object's
-- name: each upload has its own object, and names are not reused. `unused_since` is when the sweep first found no reference
-- to the picture.
CREATE TABLE media (
    hash BLOB PRIMARY KEY NOT NULL CHECK (length(hash) = 32),
    object_id BLOB NOT NULL,
    content_type TEXT NOT NULL CHECK (content_type IN ('image/png', 'image/jpeg', 'image/webp')),
    byte_size INTEGER NOT NULL CHECK (byte_size > 0),
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    uploader_id BLOB NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    unused_since INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX media_unused ON media (unused_since) WHERE unused_since IS NOT NULL;
CREATE INDEX media_of_uploader ON media (uploader_id);

-- Uploaded pictures that no post uses yet. The post that uses one deletes its row here.
CREATE TABLE media_uploads (
    id BLOB PRIMARY KEY NOT NULL,
    hash BLOB NOT NULL REFERENCES media (hash),
    uploader_id BLOB NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_uploads_by_hash ON media_uploads (hash);
CREATE INDEX media_uploads_by_expiry ON media_uploads (expires_at);
CREATE INDEX media_uploads_of_uploader ON media_uploads (uploader_id);
