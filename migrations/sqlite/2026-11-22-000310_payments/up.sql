-- The state of each purchase for money at its payment provider. `due_at` is when the service checks it next, null once
-- nothing is open.
CREATE TABLE payments (
    purchase_id BLOB PRIMARY KEY NOT NULL REFERENCES pack_purchases (id),
    provider TEXT NOT NULL,
    reference TEXT,
    refund TEXT CHECK (refund IN ('owed', 'given')),
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX payments_due ON payments (due_at, purchase_id) WHERE due_at IS NOT NULL;

-- Notifications from providers, each event once, inserted in the transaction of its effect. No foreign key: a notification
-- can name a purchase that does not exist.
CREATE TABLE payment_notices (
    provider TEXT NOT NULL,
    event_id TEXT NOT NULL,
    purchase_id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('paid', 'failed', 'cancelled', 'refunded')),
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    reference TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch')),
    PRIMARY KEY (provider, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payment_notices_by_purchase ON payment_notices (purchase_id);

-- Checkouts of the sandbox provider. It stands for another company's system, so it references no table of the service.
CREATE TABLE sandbox_checkouts (
    purchase_id BLOB PRIMARY KEY NOT NULL,
    amount INTEGER NOT NULL CHECK (amount >= 1),
    currency TEXT NOT NULL,
    description TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'declined', 'closed', 'refunded')),
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
