-- Imports of an earlier system's tables. Imported rows are staged in the tables below, where no request reads them, until a
-- single transaction moves all of them. `staged` counts the staged rows, so that an interrupted import can continue.
CREATE TABLE imports (
    id uuid PRIMARY KEY,
    staged bigint NOT NULL CHECK (staged >= 0),
    started_at timestamptz NOT NULL,
    finished_at timestamptz
);

CREATE TABLE legacy_users (
    import_id uuid NOT NULL REFERENCES imports (id),
    id uuid NOT NULL,
    username text NOT NULL,
    username_key text NOT NULL,
    display_name text NOT NULL,
    bio text NOT NULL,
    favorite_team_id uuid,
    time_zone text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, id)
);

CREATE TABLE legacy_points (
    import_id uuid NOT NULL REFERENCES imports (id),
    user_id uuid NOT NULL,
    source_key text NOT NULL,
    id uuid NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    season_id uuid,
    team_id uuid,
    happened_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, user_id, source_key)
);

CREATE TABLE legacy_runs (
    import_id uuid NOT NULL REFERENCES imports (id),
    user_id uuid NOT NULL,
    quest_id uuid NOT NULL,
    period text NOT NULL,
    status text NOT NULL,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (import_id, user_id, quest_id, period)
);

CREATE TABLE legacy_steps (
    import_id uuid NOT NULL REFERENCES imports (id),
    user_id uuid NOT NULL,
    step_id uuid NOT NULL,
    period text NOT NULL,
    quest_id uuid NOT NULL,
    completed_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, user_id, step_id, period)
);

-- `scope_id` is the team or the season that the board belongs to.
CREATE TABLE legacy_entries (
    import_id uuid NOT NULL REFERENCES imports (id),
    user_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    points bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, user_id, scope_id)
);

CREATE TABLE legacy_follows (
    import_id uuid NOT NULL REFERENCES imports (id),
    follower_id uuid NOT NULL,
    followee_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, follower_id, followee_id)
);

CREATE TABLE legacy_team_follows (
    import_id uuid NOT NULL REFERENCES imports (id),
    user_id uuid NOT NULL,
    team_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (import_id, user_id, team_id)
);
