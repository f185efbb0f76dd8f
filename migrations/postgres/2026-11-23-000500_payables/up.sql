-- A payment belongs to a payable: something of a kind that is paid for. The id is that of a row in the table of the kind, so
-- that no foreign key is possible; no two rows of these tables have the same id.
ALTER TABLE payments DROP CONSTRAINT payments_purchase_id_fkey;
ALTER TABLE payments RENAME COLUMN purchase_id TO payable_id;
ALTER TABLE payments ADD COLUMN payable_kind text NOT NULL DEFAULT 'purchase' CHECK (payable_kind IN ('purchase', 'order'));
ALTER TABLE payment_notices RENAME COLUMN purchase_id TO payable_id;
ALTER TABLE payment_notices ADD COLUMN payable_kind text NOT NULL DEFAULT 'purchase'
    CHECK (payable_kind IN ('purchase', 'order'));
ALTER INDEX payment_notices_by_purchase RENAME TO payment_notices_by_payable;
ALTER TABLE sandbox_checkouts RENAME COLUMN purchase_id TO payable_id;
ALTER TABLE sandbox_checkouts ADD COLUMN payable_kind text NOT NULL DEFAULT 'purchase'
    CHECK (payable_kind IN ('purchase', 'order'));
