-- What became of each periodic job's last runs, and when the next is due: a restart does not run everything at
-- once, and an operator sees what has not run.
CREATE TABLE job_runs (
    name text PRIMARY KEY,
    due_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    succeeded_at timestamptz,
    failures integer NOT NULL
);
