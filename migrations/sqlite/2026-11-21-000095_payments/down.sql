DROP TABLE sandbox_checkouts;
DROP TABLE payment_notices;
DROP TABLE payments;
CREATE INDEX pack_purchases_overdue ON pack_purchases (expires_at, id) WHERE state = 'pending';
