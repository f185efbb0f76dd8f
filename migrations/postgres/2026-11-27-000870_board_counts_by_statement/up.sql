-- Listed users are counted once for each statement that inserts or deletes totals, in the part of the connection. With a part for
-- each user, two statements that inserted totals of many users updated the same parts in different orders and deadlocked.
DROP TRIGGER board_totals_inserted ON board_totals;
DROP TRIGGER board_totals_shown ON board_totals;
DROP TRIGGER board_totals_hidden ON board_totals;
DROP TRIGGER board_totals_deleted ON board_totals;
DROP FUNCTION board_totals_come();
DROP FUNCTION board_totals_go();
DROP FUNCTION count_listed(uuid, uuid, uuid, bigint);

CREATE FUNCTION count_listed(season uuid, board uuid, change bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO board_counts (season_id, leaderboard_id, part, listed)
    VALUES (season, board, pg_backend_pid() % 64, change)
    ON CONFLICT (season_id, leaderboard_id, part) DO UPDATE SET listed = board_counts.listed + excluded.listed;
$$;
CREATE FUNCTION board_totals_come() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_listed(season_id, leaderboard_id, change) FROM (
        SELECT season_id, leaderboard_id, count(*) AS change FROM changed WHERE listed
        GROUP BY season_id, leaderboard_id ORDER BY season_id, leaderboard_id
    ) AS changes;
    RETURN NULL;
END;
$$;
CREATE FUNCTION board_totals_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_listed(season_id, leaderboard_id, -change) FROM (
        SELECT season_id, leaderboard_id, count(*) AS change FROM changed WHERE listed
        GROUP BY season_id, leaderboard_id ORDER BY season_id, leaderboard_id
    ) AS changes;
    RETURN NULL;
END;
$$;
CREATE FUNCTION board_totals_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_listed(NEW.season_id, NEW.leaderboard_id, CASE WHEN NEW.listed THEN 1 ELSE -1 END);
    RETURN NULL;
END;
$$;
CREATE TRIGGER board_totals_inserted AFTER INSERT ON board_totals REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION board_totals_come();
CREATE TRIGGER board_totals_deleted AFTER DELETE ON board_totals REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION board_totals_go();
-- For each row: an award updates two totals and changes neither's `listed`, and then this costs nothing.
CREATE TRIGGER board_totals_turned AFTER UPDATE ON board_totals
    FOR EACH ROW WHEN (NEW.listed <> OLD.listed) EXECUTE FUNCTION board_totals_turn();
