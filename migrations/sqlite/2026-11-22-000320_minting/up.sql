-- Messages to the minter, inserted in the transaction of what they report. The messages of a user are sent in the order of
-- `seq`. `refusals` counts the attempts that the minter rejected; the other attempts did not reach it. AUTOINCREMENT,
-- because the minter keeps these numbers: deleting old rows must not restart them.
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

-- Users with pending messages. The process that delivers a user's messages is the holder of the lane until `ready_at`.
CREATE TABLE mint_lanes (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    ready_at INTEGER NOT NULL,
    holder BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX mint_lanes_ready ON mint_lanes (ready_at, user_id);
