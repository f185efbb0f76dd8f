-- Tables of an older system that are brought in. What was read of them waits in the tables below, where nobody sees it,
-- until one transaction moves all of it; `staged` is how many rows wait, so that an import that was stopped goes on.
CREATE TABLE imports (
    id BLOB PRIMARY KEY NOT NULL,
    staged INTEGER NOT NULL CHECK (staged >= 0),
    started_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_users (
    import_id BLOB NOT NULL REFERENCES imports (id),
    id BLOB NOT NULL,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL,
    display_name TEXT NOT NULL,
    bio TEXT NOT NULL,
    favorite_team_id BLOB,
    time_zone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_points (
    import_id BLOB NOT NULL REFERENCES imports (id),
    user_id BLOB NOT NULL,
    source_key TEXT NOT NULL,
    id BLOB NOT NULL,
    amount INTEGER NOT NULL,
    reason TEXT NOT NULL,
    season_id BLOB,
    team_id BLOB,
    happened_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, user_id, source_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_runs (
    import_id BLOB NOT NULL REFERENCES imports (id),
    user_id BLOB NOT NULL,
    quest_id BLOB NOT NULL,
    period TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (import_id, user_id, quest_id, period)
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_steps (
    import_id BLOB NOT NULL REFERENCES imports (id),
    user_id BLOB NOT NULL,
    step_id BLOB NOT NULL,
    period TEXT NOT NULL,
    quest_id BLOB NOT NULL,
    completed_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, user_id, step_id, period)
) STRICT, WITHOUT ROWID;

-- `scope_id` is the team or the season whose board it is.
CREATE TABLE legacy_entries (
    import_id BLOB NOT NULL REFERENCES imports (id),
    user_id BLOB NOT NULL,
    scope_id BLOB NOT NULL,
    points INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, user_id, scope_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_follows (
    import_id BLOB NOT NULL REFERENCES imports (id),
    follower_id BLOB NOT NULL,
    followee_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, follower_id, followee_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE legacy_team_follows (
    import_id BLOB NOT NULL REFERENCES imports (id),
    user_id BLOB NOT NULL,
    team_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (import_id, user_id, team_id)
) STRICT, WITHOUT ROWID;
