-- Notices report refunds and disputes as well; `detail` names the refund or the dispute.
ALTER TABLE payment_notices
    DROP CONSTRAINT payment_notices_kind_check,
    ADD CONSTRAINT payment_notices_kind_check CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded', 'refund_given',
        'refund_failed', 'disputed', 'dispute_won', 'dispute_lost')),
    ADD COLUMN detail text;

-- How often the provider answered the request for a checkout with an error of its own, which it would repeat: part of the
-- idempotency key.
ALTER TABLE payments ADD COLUMN checkout_attempt integer NOT NULL DEFAULT 0 CHECK (checkout_attempt >= 0);

-- Disputes of payments by buyers' banks, by the provider's id of them. No foreign key: as for payments.
CREATE TABLE payment_disputes (
    provider text NOT NULL,
    reference text NOT NULL,
    payable_id uuid NOT NULL,
    payable_kind text NOT NULL CHECK (payable_kind IN ('purchase', 'order')),
    state text NOT NULL CHECK (state IN ('open', 'won', 'lost')),
    amount bigint NOT NULL CHECK (amount >= 1),
    currency text NOT NULL,
    opened_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (provider, reference)
);
CREATE INDEX payment_disputes_of_payable ON payment_disputes (payable_id, opened_at);
CREATE INDEX payment_disputes_open ON payment_disputes (opened_at) WHERE state = 'open';
