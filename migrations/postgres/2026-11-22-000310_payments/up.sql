-- The state of each purchase for money at its payment provider. `due_at` is when the service checks it next, null once
-- nothing is open.
CREATE TABLE payments (
    purchase_id uuid PRIMARY KEY REFERENCES pack_purchases (id),
    provider text NOT NULL,
    reference text,
    refund text CHECK (refund IN ('owed', 'given')),
    due_at timestamptz,
    attempts integer NOT NULL CHECK (attempts >= 0)
);
CREATE INDEX payments_due ON payments (due_at, purchase_id) WHERE due_at IS NOT NULL;

-- Notifications from providers, each event once, inserted in the transaction of its effect. No foreign key: a notification
-- can name a purchase that does not exist.
CREATE TABLE payment_notices (
    provider text NOT NULL,
    event_id text NOT NULL,
    purchase_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded')),
    amount bigint NOT NULL,
    currency text NOT NULL,
    reference text NOT NULL,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch')),
    PRIMARY KEY (provider, event_id)
);
CREATE INDEX payment_notices_by_purchase ON payment_notices (purchase_id);

-- Checkouts of the sandbox provider. It stands for another company's system, so it references no table of the service.
CREATE TABLE sandbox_checkouts (
    purchase_id uuid PRIMARY KEY,
    amount bigint NOT NULL CHECK (amount >= 1),
    currency text NOT NULL,
    description text NOT NULL,
    expires_at timestamptz NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'approved', 'declined', 'closed', 'refunded')),
    changed_at timestamptz NOT NULL
);
