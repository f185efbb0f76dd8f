ALTER TABLE trivia_rounds DROP COLUMN is_announced;
