-- Events that are committed and have no public position yet. Sequence numbers become visible out of commit order, so they
-- give no public order: the relay moves rows from here to `events`.
CREATE TABLE outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text NOT NULL,
    kind text NOT NULL,
    actor_id uuid,
    team_id uuid,
    subject_id uuid NOT NULL,
    object_id uuid,
    created_at timestamptz NOT NULL,
    detail text
);

-- Published events in their public order, without gaps. `detail` holds the numbers of an event, such as the totals after a
-- points record.
CREATE TABLE events (
    position bigint PRIMARY KEY,
    topic text NOT NULL,
    kind text NOT NULL,
    actor_id uuid,
    team_id uuid,
    subject_id uuid NOT NULL,
    object_id uuid,
    created_at timestamptz NOT NULL,
    detail text
);

-- The newest public position. The relay locks this row while it assigns the next positions, so two processes that both
-- believe to be the relay cannot assign the same ones.
CREATE TABLE event_head (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    position bigint NOT NULL
);
INSERT INTO event_head (position) VALUES (0);

-- Moves the oldest outbox rows, in sequence order, to the end of `events`, and advances the head. The lock is taken in a
-- statement of its own, so that the next statement sees what the previous holder committed.
CREATE FUNCTION relay_events(most BIGINT, OUT moved BIGINT, OUT head BIGINT) LANGUAGE plpgsql AS $$
BEGIN
    SELECT event_head.position INTO head FROM event_head FOR UPDATE;
    WITH taken AS (
        DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT most) RETURNING *
    )
    INSERT INTO events (position, topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail)
    SELECT head + row_number() OVER (ORDER BY seq),
           topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail
    FROM taken;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > 0 THEN
        head := head + moved;
        UPDATE event_head SET position = head;
    END IF;
END;
$$;

-- The last position that each durable consumer has processed.
CREATE TABLE event_consumers (
    name text PRIMARY KEY,
    position bigint NOT NULL
);

CREATE TABLE leases (
    name text PRIMARY KEY,
    holder uuid NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Responses to requests with an idempotency key. The scope names account and route, so no column of the primary key is
-- nullable.
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
-- In the order in which the rows of a deleted account are removed in batches.
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id, scope, idempotency_key)
    WHERE account_id IS NOT NULL;

-- The last run of each periodic job and when the next is due: a restart does not run all of them at once, and operators see
-- what has not run.
CREATE TABLE job_runs (
    name text PRIMARY KEY,
    due_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    succeeded_at timestamptz,
    failures integer NOT NULL
);

-- Progress of backfills, which go once through existing rows, newest first. `reached_at` and `reached_id` are null before
-- the first batch.
CREATE TABLE backfills (
    name text PRIMARY KEY,
    reached_at timestamptz,
    reached_id uuid,
    finished_at timestamptz
);

-- The journal of maintenance. A row is inserted when its task starts: `holder` names the lease of the run, so a row with the
-- outcome "running" and without that lease was interrupted. `counts` is a JSON object: written rows by kind.
CREATE TABLE maintenance_runs (
    id uuid PRIMARY KEY,
    holder uuid NOT NULL,
    task text NOT NULL,
    started_by text NOT NULL,
    arguments text NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    outcome text NOT NULL CHECK (outcome IN ('running', 'succeeded', 'failed', 'stopped')),
    counts text NOT NULL,
    failure text,
    CHECK ((outcome = 'running') = (finished_at IS NULL))
);
CREATE INDEX maintenance_runs_newest ON maintenance_runs (started_at, id);
CREATE INDEX maintenance_runs_holder ON maintenance_runs (holder, started_at);
CREATE INDEX maintenance_runs_succeeded ON maintenance_runs (task, finished_at) WHERE outcome = 'succeeded';

-- Marks derived from secrets, by which processes check that they share the same secrets; never the secrets themselves.
CREATE TABLE secret_marks (
    name text PRIMARY KEY,
    mark bytea NOT NULL
);
