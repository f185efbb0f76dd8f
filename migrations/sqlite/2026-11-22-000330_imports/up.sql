-- Imports of an earlier system's tables. Imported rows are staged in the tables below, where no request reads them, until a
-- single transaction moves all of them. `staged` counts the staged rows, so that an interrupted import can continue.
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

-- `scope_id` is the team or the season that the board belongs to.
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
