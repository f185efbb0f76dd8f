-- Refunds of what was paid for, in each kind. Only `card` is requested from the provider; the other parts are returned in the
-- transaction that inserts the row. The id of the refund of a purchase is that of the purchase. `due_at` is when the refund
-- is requested next, `asked_at` when it was first requested in this `attempt`.
CREATE TABLE refunds (
    id uuid PRIMARY KEY,
    payable_id uuid NOT NULL,
    payable_kind text NOT NULL CHECK (payable_kind IN ('purchase', 'order')),
    points bigint NOT NULL CHECK (points >= 0),
    coins bigint NOT NULL CHECK (coins >= 0),
    balance bigint NOT NULL CHECK (balance >= 0),
    card bigint NOT NULL CHECK (card >= 0),
    currency text,
    with_shipping boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('owed', 'given', 'failed')),
    reference text,
    attempt integer NOT NULL CHECK (attempt >= 0),
    asked_at timestamptz,
    due_at timestamptz,
    tries integer NOT NULL CHECK (tries >= 0),
    created_at timestamptz NOT NULL,
    CHECK (balance + card = 0 OR currency IS NOT NULL),
    CHECK (card > 0 OR state = 'given'),
    CHECK ((due_at IS NOT NULL) = (state = 'owed'))
);
CREATE INDEX refunds_of_payable ON refunds (payable_id, created_at, id);
CREATE INDEX refunds_due ON refunds (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX refunds_failed ON refunds (id) WHERE state = 'failed';
ALTER TABLE order_lines ADD COLUMN refund_id uuid REFERENCES refunds (id);

-- Until now a payment was refunded as a whole.
INSERT INTO refunds (id, payable_id, payable_kind, points, coins, balance, card, currency, with_shipping, state, reference,
        attempt, asked_at, due_at, tries, created_at)
    SELECT p.id, p.id, 'purchase', 0, 0, 0, p.price_amount * p.quantity, p.price_currency, false, payments.refund, NULL,
        0, NULL, CASE WHEN payments.refund = 'owed' THEN coalesce(payments.due_at, p.changed_at) END, payments.attempts,
        p.changed_at
    FROM pack_purchases p JOIN payments ON payments.payable_id = p.id WHERE payments.refund IS NOT NULL;
INSERT INTO refunds (id, payable_id, payable_kind, points, coins, balance, card, currency, with_shipping, state, reference,
        attempt, asked_at, due_at, tries, created_at)
    SELECT o.id, o.id, 'order', CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.points END,
        CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.coins END, CASE WHEN o.paid_at IS NULL THEN 0 ELSE o.balance END, o.card,
        o.currency, true, coalesce(payments.refund, 'given'), NULL, 0, NULL,
        CASE WHEN payments.refund = 'owed' THEN coalesce(payments.due_at, o.changed_at) END, coalesce(payments.attempts, 0),
        o.changed_at
    FROM orders o LEFT JOIN payments ON payments.payable_id = o.id WHERE o.state = 'refunded';
UPDATE order_lines SET refund_id = order_id WHERE order_id IN (SELECT id FROM refunds);
UPDATE payments SET due_at = NULL WHERE refund IS NOT NULL;
ALTER TABLE payments DROP COLUMN refund;
