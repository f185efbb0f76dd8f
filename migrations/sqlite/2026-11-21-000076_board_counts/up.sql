-- How many fans are listed on a board in a season, kept by the rows themselves, whoever writes them. One writer at a time
-- needs one part.
CREATE TABLE board_counts (
    season_id BLOB NOT NULL REFERENCES seasons (id),
    leaderboard_id BLOB NOT NULL REFERENCES leaderboards (id),
    part INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    PRIMARY KEY (season_id, leaderboard_id, part)
) STRICT, WITHOUT ROWID;
INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
SELECT season_id, leaderboard_id, 0, count(*) FROM board_totals WHERE listed GROUP BY season_id, leaderboard_id;

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
