DROP TRIGGER board_totals_inserted ON board_totals;
DROP TRIGGER board_totals_deleted ON board_totals;
DROP TRIGGER board_totals_turned ON board_totals;
DROP FUNCTION board_totals_come();
DROP FUNCTION board_totals_go();
DROP FUNCTION board_totals_turn();
DROP FUNCTION count_listed(uuid, uuid, bigint);

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
