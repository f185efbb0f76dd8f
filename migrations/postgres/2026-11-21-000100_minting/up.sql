-- Whether the minter was told of it, or will be: only of those it also hears when they are taken back.
ALTER TABLE owned_collectibles ADD COLUMN is_told boolean NOT NULL DEFAULT false;

-- What the minter is to hear, written in the transaction in which it happened. A fan's messages go out in the order of `seq`.
-- `refusals` are the attempts that the minter refused as wrong; the others did not reach it.
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

-- Fans with pending messages. Whoever delivers a fan's messages is the holder of their lane until it is ready again.
CREATE TABLE mint_lanes (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    ready_at timestamptz NOT NULL,
    holder uuid
);
CREATE INDEX mint_lanes_ready ON mint_lanes (ready_at, user_id);
