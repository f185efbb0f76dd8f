-- What became of each periodic job's last runs, and when the next is due: a restart does not run everything at
-- once, and an operator sees what has not run.
CREATE TABLE job_runs (
    name TEXT PRIMARY KEY NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    succeeded_at INTEGER,
    failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
