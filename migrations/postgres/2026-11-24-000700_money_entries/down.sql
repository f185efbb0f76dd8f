DROP INDEX orders_pending;
DROP TABLE money_entries;
ALTER TABLE ledger_accounts DROP COLUMN booked_at;
ALTER TABLE ledger_accounts DROP COLUMN entry_count;
