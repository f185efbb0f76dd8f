-- Whether other fans see the album.
ALTER TABLE users ADD COLUMN collection_visible INTEGER NOT NULL DEFAULT 1 CHECK (collection_visible IN (0, 1));

-- For the album of an account.
CREATE INDEX owned_collectibles_album ON owned_collectibles (user_id, collectible_id, acquired_at)
    WHERE revoked_at IS NULL;

-- For the number of copies that an account has of each pack.
CREATE INDEX user_packs_held ON user_packs (user_id, pack_id) WHERE state <> 'revoked';
