-- Messages to the minter, inserted in the transaction of what they report. The messages of a user are sent in the order of
-- `seq`. `refusals` counts the attempts that the minter rejected; the other attempts did not reach it.
CREATE TABLE mint_messages (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL CHECK (kind IN ('minted', 'revoked')),
    owned_id uuid NOT NULL REFERENCES owned_collectibles (id),
    happened_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL CHECK (attempts >= 0),
    refusals integer NOT NULL CHECK (refusals BETWEEN 0 AND attempts),
    fault text,
    ended_at timestamptz,
    UNIQUE (owned_id, kind),
    CHECK ((state = 'pending') = (ended_at IS NULL))
);
CREATE INDEX mint_messages_pending ON mint_messages (user_id, seq) WHERE state = 'pending';
CREATE INDEX mint_messages_delivered ON mint_messages (ended_at) WHERE state = 'delivered';
CREATE INDEX mint_messages_failed ON mint_messages (seq) WHERE state = 'failed';

-- Users with pending messages. The process that delivers a user's messages is the holder of the lane until `ready_at`.
CREATE TABLE mint_lanes (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    ready_at timestamptz NOT NULL,
    holder uuid
);
CREATE INDEX mint_lanes_ready ON mint_lanes (ready_at, user_id);
