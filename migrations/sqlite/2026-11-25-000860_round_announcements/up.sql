-- Whether the event was appended by which fans are notified that a live round begins soon.
ALTER TABLE trivia_rounds ADD COLUMN is_announced INTEGER NOT NULL DEFAULT 0 CHECK (is_announced IN (0, 1));
