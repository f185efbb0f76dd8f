-- For the sum of all records of a user: those of seasons are summed in `board_totals`. SQLite would prefer the primary key to
-- an index without `season_id`.
CREATE INDEX points_history_outside_seasons ON points_history (user_id, season_id, amount) WHERE season_id IS NULL;
