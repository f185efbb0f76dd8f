-- Payments of other kinds are lost.
DELETE FROM sandbox_checkouts WHERE payable_kind <> 'purchase';
ALTER TABLE sandbox_checkouts DROP COLUMN payable_kind;
ALTER TABLE sandbox_checkouts RENAME COLUMN payable_id TO purchase_id;
ALTER INDEX payment_notices_by_payable RENAME TO payment_notices_by_purchase;
DELETE FROM payment_notices WHERE payable_kind <> 'purchase';
ALTER TABLE payment_notices DROP COLUMN payable_kind;
ALTER TABLE payment_notices RENAME COLUMN payable_id TO purchase_id;
DELETE FROM payments WHERE payable_kind <> 'purchase';
ALTER TABLE payments DROP COLUMN payable_kind;
ALTER TABLE payments RENAME COLUMN payable_id TO purchase_id;
ALTER TABLE payments ADD CONSTRAINT payments_purchase_id_fkey FOREIGN KEY (purchase_id) REFERENCES pack_purchases (id);
