-- What happened, in its public order: the single writer's order. AUTOINCREMENT, because positions go out to
-- clients and must not start again when old rows are swept.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    topic TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BLOB,
    team_id BLOB,
    subject_id BLOB NOT NULL,
    object_id BLOB,
    created_at INTEGER NOT NULL
) STRICT;

-- How far each durable consumer has come.
CREATE TABLE event_consumers (
    name TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    name TEXT PRIMARY KEY NOT NULL,
    holder BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers to requests that carried an idempotency key. The scope names account and route, so that no part of
-- the key can be null.
CREATE TABLE idempotency_keys (
    scope TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    account_id BLOB,
    fingerprint BLOB NOT NULL,
    status INTEGER,
    location TEXT,
    body TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id) WHERE account_id IS NOT NULL;
