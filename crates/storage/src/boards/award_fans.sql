) AS given (user_id, id, amount, reason, source_key, season_id, happened_at, team_id, recorded_board, finds_board,
        by_maintenance, by_time, now)
), fan AS MATERIALIZED (
    SELECT id, favorite_team_id, status, status = 'active' AND leaderboard_visible AS shown FROM users
    WHERE id = ANY ($1) AND status IN ('active', 'suspended')
    FOR NO KEY UPDATE
