DROP TRIGGER board_totals_deleted;
DROP TRIGGER board_totals_hidden;
DROP TRIGGER board_totals_shown;
DROP TRIGGER board_totals_inserted;
DROP TABLE board_counts;
