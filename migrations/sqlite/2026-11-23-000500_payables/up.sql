-- A payment belongs to a payable: something of a kind that is paid for. The id is that of a row in the table of the kind, so
-- that no foreign key is possible; no two rows of these tables have the same id.
CREATE TABLE payments_of_payables (
    payable_id BLOB PRIMARY KEY NOT NULL,
    provider TEXT NOT NULL,
    reference TEXT,
    refund TEXT CHECK (refund IN ('owed', 'given')),
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    payable_kind TEXT NOT NULL DEFAULT 'purchase' CHECK (payable_kind IN ('purchase', 'order'))
) STRICT, WITHOUT ROWID;
INSERT INTO payments_of_payables (payable_id, provider, reference, refund, due_at, attempts)
    SELECT purchase_id, provider, reference, refund, due_at, attempts FROM payments;
DROP TABLE payments;
ALTER TABLE payments_of_payables RENAME TO payments;
CREATE INDEX payments_due ON payments (due_at, payable_id) WHERE due_at IS NOT NULL;
DROP INDEX payment_notices_by_purchase;
ALTER TABLE payment_notices RENAME COLUMN purchase_id TO payable_id;
ALTER TABLE payment_notices ADD COLUMN payable_kind TEXT NOT NULL DEFAULT 'purchase'
    CHECK (payable_kind IN ('purchase', 'order'));
CREATE INDEX payment_notices_by_payable ON payment_notices (payable_id);
ALTER TABLE sandbox_checkouts RENAME COLUMN purchase_id TO payable_id;
ALTER TABLE sandbox_checkouts ADD COLUMN payable_kind TEXT NOT NULL DEFAULT 'purchase'
    CHECK (payable_kind IN ('purchase', 'order'));
