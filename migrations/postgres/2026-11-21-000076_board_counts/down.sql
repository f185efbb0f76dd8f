DROP TRIGGER board_totals_deleted ON board_totals;
DROP TRIGGER board_totals_hidden ON board_totals;
DROP TRIGGER board_totals_shown ON board_totals;
DROP TRIGGER board_totals_inserted ON board_totals;
DROP FUNCTION board_totals_go();
DROP FUNCTION board_totals_come();
DROP FUNCTION count_listed(uuid, uuid, uuid, bigint);
DROP TABLE board_counts;
