-- Who ran which task of maintenance, when, and what it came to. A run is the row's from its beginning on: `holder` is whose
-- lease it ran under, so that one that says "running" without its lease was interrupted. `counts` is a JSON object, rows
-- that were written by kind.
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
