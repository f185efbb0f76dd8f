-- Nothing changes here: a single writer updates the only part of a board, so that no two statements wait for each other.
SELECT 1;
