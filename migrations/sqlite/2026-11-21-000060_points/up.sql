-- What an event came to, in numbers: the totals after a record of points.
ALTER TABLE events ADD COLUMN detail TEXT;

-- Spans of time whose points are counted together. Nothing is deleted at a season's end: the next one's records name
-- another season.
CREATE TABLE seasons (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER,
    status TEXT NOT NULL CHECK (status IN ('legacy', 'planned', 'active', 'closed'))
) STRICT, WITHOUT ROWID;

-- A season's global board, or a team's, which it keeps from season to season.
CREATE TABLE leaderboards (
    id BLOB PRIMARY KEY NOT NULL,
    season_id BLOB UNIQUE REFERENCES seasons (id),
    team_id BLOB UNIQUE REFERENCES teams (id),
    created_at INTEGER NOT NULL,
    CHECK ((season_id IS NULL) <> (team_id IS NULL))
) STRICT, WITHOUT ROWID;

-- The ledger of points: rows are added and never changed. The source key names the fact that a row is for, so that a
-- fact pays a fan once whoever writes it; it has no part that can be null. A board named here is a team's.
CREATE TABLE points_history (
    id BLOB NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    amount INTEGER NOT NULL CHECK (amount BETWEEN -1000000000 AND 1000000000),
    reason TEXT NOT NULL,
    source_key TEXT NOT NULL,
    season_id BLOB REFERENCES seasons (id),
    leaderboard_id BLOB REFERENCES leaderboards (id),
    happened_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, source_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX points_history_newest_of_user ON points_history (user_id, happened_at DESC, id DESC);

-- What a fan's records of a season came to on a board, kept in the transaction of each record. The season's global
-- board counts all of them, a team's those that name it. `version` grows with each change; `listed` is whether the fan
-- is shown on the board.
CREATE TABLE board_totals (
    season_id BLOB NOT NULL REFERENCES seasons (id),
    leaderboard_id BLOB NOT NULL REFERENCES leaderboards (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    points INTEGER NOT NULL,
    reached_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 0),
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    PRIMARY KEY (season_id, leaderboard_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX board_totals_ranked ON board_totals (season_id, leaderboard_id, points DESC, reached_at, user_id)
    WHERE listed;

-- Who is on a board. `points` is legacy: it mirrors the fan's total on the board in the season named beside it, the
-- one that was active at the last change.
CREATE TABLE leaderboard_entries (
    leaderboard_id BLOB NOT NULL REFERENCES leaderboards (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    points INTEGER NOT NULL,
    season_id BLOB REFERENCES seasons (id),
    created_at INTEGER NOT NULL,
    left_at INTEGER,
    PRIMARY KEY (leaderboard_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaderboard_entries_of_user ON leaderboard_entries (user_id, leaderboard_id);
