DROP TABLE payment_disputes;
ALTER TABLE payments DROP COLUMN checkout_attempt;
-- Notices of refunds and disputes are lost.
CREATE TABLE payment_notices_of_payments (
    provider TEXT NOT NULL,
    event_id TEXT NOT NULL,
    payable_id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded')),
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    reference TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch')),
    payable_kind TEXT NOT NULL DEFAULT 'purchase' CHECK (payable_kind IN ('purchase', 'order')),
    PRIMARY KEY (provider, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO payment_notices_of_payments SELECT provider, event_id, payable_id, kind, amount, currency, reference, occurred_at,
        received_at, outcome, payable_kind
    FROM payment_notices WHERE kind IN ('paid', 'failed', 'cancelled', 'refunded');
DROP TABLE payment_notices;
ALTER TABLE payment_notices_of_payments RENAME TO payment_notices;
CREATE INDEX payment_notices_by_payable ON payment_notices (payable_id);
