-- Whether the event was appended by which fans are notified that a live round begins soon.
ALTER TABLE trivia_rounds ADD COLUMN is_announced boolean NOT NULL DEFAULT false;
