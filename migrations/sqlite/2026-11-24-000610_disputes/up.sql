-- Notices report refunds and disputes as well; `detail` names the refund or the dispute.
CREATE TABLE payment_notices_of_all_kinds (
    provider TEXT NOT NULL,
    event_id TEXT NOT NULL,
    payable_id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded', 'refund_given', 'refund_failed', 'disputed',
        'dispute_won', 'dispute_lost')),
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    reference TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch')),
    payable_kind TEXT NOT NULL DEFAULT 'purchase' CHECK (payable_kind IN ('purchase', 'order')),
    detail TEXT,
    PRIMARY KEY (provider, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO payment_notices_of_all_kinds (provider, event_id, payable_id, kind, amount, currency, reference, occurred_at,
        received_at, outcome, payable_kind)
    SELECT provider, event_id, payable_id, kind, amount, currency, reference, occurred_at, received_at, outcome, payable_kind
    FROM payment_notices;
DROP TABLE payment_notices;
ALTER TABLE payment_notices_of_all_kinds RENAME TO payment_notices;
CREATE INDEX payment_notices_by_payable ON payment_notices (payable_id);

-- How often the provider answered the request for a checkout with an error of its own, which it would repeat: part of the
-- idempotency key.
ALTER TABLE payments ADD COLUMN checkout_attempt INTEGER NOT NULL DEFAULT 0 CHECK (checkout_attempt >= 0);

-- Disputes of payments by buyers' banks, by the provider's id of them. No foreign key: as for payments.
CREATE TABLE payment_disputes (
    provider TEXT NOT NULL,
    reference TEXT NOT NULL,
    payable_id BLOB NOT NULL,
    payable_kind TEXT NOT NULL CHECK (payable_kind IN ('purchase', 'order')),
    state TEXT NOT NULL CHECK (state IN ('open', 'won', 'lost')),
    amount INTEGER NOT NULL CHECK (amount >= 1),
    currency TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (provider, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_disputes_of_payable ON payment_disputes (payable_id, opened_at);
CREATE INDEX payment_disputes_open ON payment_disputes (opened_at) WHERE state = 'open';
