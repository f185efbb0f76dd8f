DROP TABLE payment_disputes;
ALTER TABLE payments DROP COLUMN checkout_attempt;
-- Notices of refunds and disputes are lost.
DELETE FROM payment_notices WHERE kind NOT IN ('paid', 'failed', 'cancelled', 'refunded');
ALTER TABLE payment_notices
    DROP COLUMN detail,
    DROP CONSTRAINT payment_notices_kind_check,
    ADD CONSTRAINT payment_notices_kind_check CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded'));
