-- Published events in their public order, which is the order of the single writer. AUTOINCREMENT, because clients keep
-- positions: deleting old rows must not restart them. `detail` holds the numbers of an event, such as the totals after a
-- points record.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    topic TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BLOB,
    team_id BLOB,
    subject_id BLOB NOT NULL,
    object_id BLOB,
    created_at INTEGER NOT NULL,
    detail TEXT
) STRICT;

-- The last position that each durable consumer has processed.
CREATE TABLE event_consumers (
    name TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    name TEXT PRIMARY KEY NOT NULL,
    holder BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Responses to requests with an idempotency key. The scope names account and route, so no column of the primary key is
-- nullable.
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
-- In the order in which the rows of a deleted account are removed in batches.
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id, scope, idempotency_key)
    WHERE account_id IS NOT NULL;

-- The last run of each periodic job and when the next is due: a restart does not run all of them at once, and operators see
-- what has not run.
CREATE TABLE job_runs (
    name TEXT PRIMARY KEY NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    succeeded_at INTEGER,
    failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Progress of backfills, which go once through existing rows, newest first. `reached_at` and `reached_id` are null before
-- the first batch.
CREATE TABLE backfills (
    name TEXT PRIMARY KEY NOT NULL,
    reached_at INTEGER,
    reached_id BLOB,
    finished_at INTEGER
) STRICT, WITHOUT ROWID;

-- The journal of maintenance. A row is inserted when its task starts: `holder` names the lease of the run, so a row with the
-- outcome "running" and without that lease was interrupted. `counts` is a JSON object: written rows by kind.
CREATE TABLE maintenance_runs (
    id BLOB PRIMARY KEY NOT NULL,
    holder BLOB NOT NULL,
    task TEXT NOT NULL,
    started_by TEXT NOT NULL,
    arguments TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'succeeded', 'failed', 'stopped')),
    counts TEXT NOT NULL,
    failure TEXT,
    CHECK ((outcome = 'running') = (finished_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_runs_newest ON maintenance_runs (started_at, id);
CREATE INDEX maintenance_runs_holder ON maintenance_runs (holder, started_at);
CREATE INDEX maintenance_runs_succeeded ON maintenance_runs (task, finished_at) WHERE outcome = 'succeeded';

-- Marks derived from secrets, by which processes check that they share the same secrets; never the secrets themselves.
CREATE TABLE secret_marks (
    name TEXT PRIMARY KEY NOT NULL,
    mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;
