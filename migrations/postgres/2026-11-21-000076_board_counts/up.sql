-- How many fans are listed on a board in a season, in parts that many transactions can count in at once; kept by the rows
-- themselves, whoever writes them.
CREATE TABLE board_counts (
    season_id uuid NOT NULL REFERENCES seasons (id),
    leaderboard_id uuid NOT NULL REFERENCES leaderboards (id),
    part smallint NOT NULL,
    listed bigint NOT NULL,
    PRIMARY KEY (season_id, leaderboard_id, part)
);
INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
SELECT season_id, leaderboard_id, 0, count(*) FROM board_totals WHERE listed GROUP BY season_id, leaderboard_id;

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
