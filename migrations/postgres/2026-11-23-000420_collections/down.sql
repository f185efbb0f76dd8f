DROP INDEX user_packs_held;
DROP INDEX owned_collectibles_album;
ALTER TABLE users DROP COLUMN collection_visible;
