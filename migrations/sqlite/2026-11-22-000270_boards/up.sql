-- Periods whose points are counted together. The end of a season deletes nothing: later records name the next season.
CREATE TABLE seasons (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER,
    status TEXT NOT NULL CHECK (status IN ('legacy', 'planned', 'active', 'closed'))
) STRICT, WITHOUT ROWID;

-- The global board of a season, or the board of a team, which stays the same in all seasons.
CREATE TABLE leaderboards (
    id BLOB PRIMARY KEY NOT NULL,
    season_id BLOB UNIQUE REFERENCES seasons (id),
    team_id BLOB UNIQUE REFERENCES teams (id),
    created_at INTEGER NOT NULL,
    CHECK ((season_id IS NULL) <> (team_id IS NULL))
) STRICT, WITHOUT ROWID;

-- The points ledger: rows are inserted and never updated. The source key names the fact that a row is for, so that a fact
-- gives a user points once, whichever process writes it; no column of the primary key is nullable. `leaderboard_id` is a
-- team's board.
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

-- The sum of a user's records of a season on a board, updated in the transaction of each record. The global board of a
-- season counts all records, a team's board those that name it. `version` grows with each change; `listed` is whether the
-- board shows the user.
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

-- The members of a board. `points` is legacy: a copy of the user's total on the board in `season_id`, the season that was
-- active at the last change.
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

-- The number of listed users of a board in a season. Triggers keep it, so that it is right for every statement that writes
-- totals. With a single writer, one part is enough.
CREATE TABLE board_counts (
    season_id BLOB NOT NULL REFERENCES seasons (id),
    leaderboard_id BLOB NOT NULL REFERENCES leaderboards (id),
    part INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    PRIMARY KEY (season_id, leaderboard_id, part)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER board_totals_inserted AFTER INSERT ON board_totals WHEN NEW.listed
BEGIN
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (NEW.season_id, NEW.leaderboard_id, 0, 1)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = listed + 1;
END;
CREATE TRIGGER board_totals_shown AFTER UPDATE ON board_totals WHEN NEW.listed AND NOT OLD.listed
BEGIN
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (NEW.season_id, NEW.leaderboard_id, 0, 1)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = listed + 1;
END;
CREATE TRIGGER board_totals_hidden AFTER UPDATE ON board_totals WHEN OLD.listed AND NOT NEW.listed
BEGIN
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (OLD.season_id, OLD.leaderboard_id, 0, -1)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = listed - 1;
END;
CREATE TRIGGER board_totals_deleted AFTER DELETE ON board_totals WHEN OLD.listed
BEGIN
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (OLD.season_id, OLD.leaderboard_id, 0, -1)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = listed - 1;
END;
