DROP TABLE sandbox_checkouts;
DROP TABLE payment_notices;
DROP TABLE payments;
