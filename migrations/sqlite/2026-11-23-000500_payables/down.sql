-- Payments of other kinds are lost.
DELETE FROM sandbox_checkouts WHERE payable_kind <> 'purchase';
ALTER TABLE sandbox_checkouts DROP COLUMN payable_kind;
ALTER TABLE sandbox_checkouts RENAME COLUMN payable_id TO purchase_id;
DROP INDEX payment_notices_by_payable;
DELETE FROM payment_notices WHERE payable_kind <> 'purchase';
ALTER TABLE payment_notices DROP COLUMN payable_kind;
ALTER TABLE payment_notices RENAME COLUMN payable_id TO purchase_id;
CREATE INDEX payment_notices_by_purchase ON payment_notices (purchase_id);
CREATE TABLE payments_of_purchases (
    purchase_id BLOB PRIMARY KEY NOT NULL REFERENCES pack_purchases (id),
    provider TEXT NOT NULL,
    reference TEXT,
    refund TEXT CHECK (refund IN ('owed', 'given')),
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO payments_of_purchases (purchase_id, provider, reference, refund, due_at, attempts)
    SELECT payable_id, provider, reference, refund, due_at, attempts FROM payments WHERE payable_kind = 'purchase';
DROP TABLE payments;
ALTER TABLE payments_of_purchases RENAME TO payments;
CREATE INDEX payments_due ON payments (due_at, purchase_id) WHERE due_at IS NOT NULL;
