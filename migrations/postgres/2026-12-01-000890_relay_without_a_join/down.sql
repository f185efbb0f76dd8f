CREATE OR REPLACE FUNCTION relay_events(most BIGINT, OUT moved BIGINT, OUT head BIGINT) LANGUAGE plpgsql AS $$
BEGIN
    SELECT event_head.position INTO head FROM event_head FOR UPDATE;
    WITH taken AS (
        DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT most) RETURNING *
    )
    INSERT INTO events (position, topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail)
    SELECT head + row_number() OVER (ORDER BY seq),
           topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail
    FROM taken;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > 0 THEN
        head := head + moved;
        UPDATE event_head SET position = head;
    END IF;
END;
$$;
