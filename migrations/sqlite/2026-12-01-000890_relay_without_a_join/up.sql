-- Nothing changes here: events get their positions when they are appended, without an outbox.
SELECT 1;
