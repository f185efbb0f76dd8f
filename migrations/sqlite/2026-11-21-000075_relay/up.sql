-- Here events have their positions when they are committed, and nothing relays them.
SELECT 1;
