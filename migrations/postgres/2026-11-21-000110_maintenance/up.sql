-- Who ran which task of maintenance, when, and what it came to. A run is the row's from its beginning on: `holder` is whose
-- lease it ran under, so that one that says "running" without its lease was interrupted. `counts` is a JSON object, rows
-- that were written by kind.
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
