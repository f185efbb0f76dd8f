-- Periods whose points are counted together. The end of a season deletes nothing: later records name the next season.
CREATE TABLE seasons (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    name text NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz,
    status text NOT NULL CHECK (status IN ('legacy', 'planned', 'active', 'closed'))
);

-- The global board of a season, or the board of a team, which stays the same in all seasons.
CREATE TABLE leaderboards (
    id uuid PRIMARY KEY,
    season_id uuid UNIQUE REFERENCES seasons (id),
    team_id uuid UNIQUE REFERENCES teams (id),
    created_at timestamptz NOT NULL,
    CHECK ((season_id IS NULL) <> (team_id IS NULL))
);

-- The points ledger: rows are inserted and never updated. The source key names the fact that a row is for, so that a fact
-- gives a user points once, whichever process writes it; no column of the primary key is nullable. `leaderboard_id` is a
-- team's board.
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

-- The sum of a user's records of a season on a board, updated in the transaction of each record. The global board of a
-- season counts all records, a team's board those that name it. `version` grows with each change; `listed` is whether the
-- board shows the user.
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

-- The members of a board. `points` is legacy: a copy of the user's total on the board in `season_id`, the season that was
-- active at the last change.
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

-- The number of listed users of a board in a season, split into parts so that concurrent transactions update different
-- rows. Triggers keep it, so that it is right for every statement that writes totals.
CREATE TABLE board_counts (
    season_id uuid NOT NULL REFERENCES seasons (id),
    leaderboard_id uuid NOT NULL REFERENCES leaderboards (id),
    part smallint NOT NULL,
    listed bigint NOT NULL,
    PRIMARY KEY (season_id, leaderboard_id, part)
);

CREATE FUNCTION count_listed(season uuid, board uuid, fan uuid, change bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (season, board, get_byte(uuid_send(fan), 15) % 16, change)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = board_counts.listed + excluded.listed;
$$;
CREATE FUNCTION board_totals_come() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_listed(NEW.season_id, NEW.leaderboard_id, NEW.user_id, 1);
    RETURN NULL;
END;
$$;
CREATE FUNCTION board_totals_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_listed(OLD.season_id, OLD.leaderboard_id, OLD.user_id, -1);
    RETURN NULL;
END;
$$;
CREATE TRIGGER board_totals_inserted AFTER INSERT ON board_totals
    FOR EACH ROW WHEN (NEW.listed) EXECUTE FUNCTION board_totals_come();
CREATE TRIGGER board_totals_shown AFTER UPDATE ON board_totals
    FOR EACH ROW WHEN (NEW.listed AND NOT OLD.listed) EXECUTE FUNCTION board_totals_come();
CREATE TRIGGER board_totals_hidden AFTER UPDATE ON board_totals
    FOR EACH ROW WHEN (OLD.listed AND NOT NEW.listed) EXECUTE FUNCTION board_totals_go();
CREATE TRIGGER board_totals_deleted AFTER DELETE ON board_totals
    FOR EACH ROW WHEN (OLD.listed) EXECUTE FUNCTION board_totals_go();
