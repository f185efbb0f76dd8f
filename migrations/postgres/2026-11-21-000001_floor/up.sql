-- Committed events that have no public position yet. Sequence numbers become visible out of commit order, so
-- they order nothing in public: the relay moves rows from here to `events`.
CREATE TABLE outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text NOT NULL,
    kind text NOT NULL,
    actor_id uuid,
    team_id uuid,
    subject_id uuid NOT NULL,
    object_id uuid,
    created_at timestamptz NOT NULL
);

-- What happened, in its public order, without gaps.
CREATE TABLE events (
    position bigint PRIMARY KEY,
    topic text NOT NULL,
    kind text NOT NULL,
    actor_id uuid,
    team_id uuid,
    subject_id uuid NOT NULL,
    object_id uuid,
    created_at timestamptz NOT NULL
);

-- The newest public position, in a row that the relay locks while it gives out the next ones: whoever thinks
-- they are the relay, two of them cannot give out the same.
CREATE TABLE event_head (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    position bigint NOT NULL
);
INSERT INTO event_head (position) VALUES (0);

-- How far each durable consumer has come.
CREATE TABLE event_consumers (
    name text PRIMARY KEY,
    position bigint NOT NULL
);

CREATE TABLE leases (
    name text PRIMARY KEY,
    holder uuid NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Answers to requests that carried an idempotency key. The scope names account and route, so that no part of
-- the key can be null.
CREATE TABLE idempotency_keys (
    scope text NOT NULL,
    idempotency_key text NOT NULL,
    account_id uuid,
    fingerprint bytea NOT NULL,
    status integer,
    location text,
    body text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (scope, idempotency_key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id) WHERE account_id IS NOT NULL;
