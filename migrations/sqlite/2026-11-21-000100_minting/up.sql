-- Whether the minter was told of it, or will be: only of those it also hears when they are taken back.
ALTER TABLE owned_collectibles ADD COLUMN is_told INTEGER NOT NULL DEFAULT 0 CHECK (is_told IN (0, 1));

-- What the minter is to hear, written in the transaction in which it happened. A fan's messages go out in the order of `seq`.
-- `refusals` are the attempts that the minter refused as wrong; the others did not reach it. AUTOINCREMENT, because numbers
-- go out to the minter and must not start again when old rows are swept.
CREATE TABLE mint_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL CHECK (kind IN ('minted', 'revoked')),
    owned_id BLOB NOT NULL REFERENCES owned_collectibles (id),
    happened_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    refusals INTEGER NOT NULL CHECK (refusals BETWEEN 0 AND attempts),
    fault TEXT,
    ended_at INTEGER,
    UNIQUE (owned_id, kind),
    CHECK ((state = 'pending') = (ended_at IS NULL))
) STRICT;
CREATE INDEX mint_messages_pending ON mint_messages (user_id, seq) WHERE state = 'pending';
CREATE INDEX mint_messages_delivered ON mint_messages (ended_at) WHERE state = 'delivered';
CREATE INDEX mint_messages_failed ON mint_messages (seq) WHERE state = 'failed';

-- Fans with pending messages. Whoever delivers a fan's messages is the holder of their lane until it is ready again.
CREATE TABLE mint_lanes (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    ready_at INTEGER NOT NULL,
    holder BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX mint_lanes_ready ON mint_lanes (ready_at, user_id);
