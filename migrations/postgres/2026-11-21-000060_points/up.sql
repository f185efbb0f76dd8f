-- What an event came to, in numbers: the totals after a record of points.
ALTER TABLE outbox ADD COLUMN detail text;
ALTER TABLE events ADD COLUMN detail text;

-- Spans of time whose points are counted together. Nothing is deleted at a season's end: the next one's records name
-- another season.
CREATE TABLE seasons (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    name text NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz,
    status text NOT NULL CHECK (status IN ('legacy', 'planned', 'active', 'closed'))
);

-- A season's global board, or a team's, which it keeps from season to season.
CREATE TABLE leaderboards (
    id uuid PRIMARY KEY,
    season_id uuid UNIQUE REFERENCES seasons (id),
    team_id uuid UNIQUE REFERENCES teams (id),
    created_at timestamptz NOT NULL,
    CHECK ((season_id IS NULL) <> (team_id IS NULL))
);

-- The ledger of points: rows are added and never changed. The source key names the fact that a row is for, so that a
-- fact pays a fan once whoever writes it; it has no part that can be null. A board named here is a team's.
CREATE TABLE points_history (
    id uuid NOT NULL,
    user_id uuid NOT NULL REFERENCES users (id),
    amount bigint NOT NULL CHECK (amount BETWEEN -1000000000 AND 1000000000),
    reason text NOT NULL,
    source_key text NOT NULL,
    season_id uuid REFERENCES seasons (id),
    leaderboard_id uuid REFERENCES leaderboards (id),
    happened_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, source_key)
);
CREATE INDEX points_history_newest_of_user ON points_history (user_id, happened_at DESC, id DESC);

-- What a fan's records of a season came to on a board, kept in the transaction of each record. The season's global
-- board counts all of them, a team's those that name it. `version` grows with each change; `listed` is whether the fan
-- is shown on the board.
CREATE TABLE board_totals (
    season_id uuid NOT NULL REFERENCES seasons (id),
    leaderboard_id uuid NOT NULL REFERENCES leaderboards (id),
    user_id uuid NOT NULL REFERENCES users (id),
    points bigint NOT NULL,
    reached_at timestamptz NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    listed boolean NOT NULL,
    PRIMARY KEY (season_id, leaderboard_id, user_id)
);
CREATE INDEX board_totals_ranked ON board_totals (season_id, leaderboard_id, points DESC, reached_at, user_id)
    WHERE listed;

-- Who is on a board. `points` is legacy: it mirrors the fan's total on the board in the season named beside it, the
-- one that was active at the last change.
CREATE TABLE leaderboard_entries (
    leaderboard_id uuid NOT NULL REFERENCES leaderboards (id),
    user_id uuid NOT NULL REFERENCES users (id),
    points bigint NOT NULL,
    season_id uuid REFERENCES seasons (id),
    created_at timestamptz NOT NULL,
    left_at timestamptz,
    PRIMARY KEY (leaderboard_id, user_id)
);
CREATE INDEX leaderboard_entries_of_user ON leaderboard_entries (user_id, leaderboard_id);
