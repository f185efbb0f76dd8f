-- Pictures whose bytes lie in the media store, by the SHA-256 of those bytes. `object_id` is the last part of the
-- object's name: each upload has an object of its own, and names are never used again. `unused_since` is when the
-- sweep first saw that nothing refers to the picture.
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

-- Pictures that wait for a post. The post that takes one removes it here.
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

-- Whether something refers to a picture.
CREATE INDEX users_by_picture ON users (picture) WHERE picture IS NOT NULL;
CREATE INDEX posts_by_image ON posts (image) WHERE image IS NOT NULL;
