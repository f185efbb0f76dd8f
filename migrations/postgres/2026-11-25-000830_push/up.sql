-- Subscriptions at push services, one for each session. `key_id` names the key of the service that the browser subscribed
-- with; `p256dh` and `auth` are the keys that messages are encrypted for.
CREATE TABLE push_subscriptions (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users (id),
    endpoint text NOT NULL UNIQUE,
    p256dh bytea NOT NULL CHECK (octet_length(p256dh) = 65),
    auth bytea NOT NULL CHECK (octet_length(auth) = 16),
    key_id text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX push_subscriptions_by_user ON push_subscriptions (user_id, id);

-- Messages to subscriptions, one for each notification. `due_at` is when it is sent next, null if nothing is to be sent.
-- Before `free_at` no further message about the notification is sent. `version` grows whenever the message is enqueued,
-- `attempts` with each attempt, which it identifies; `failures` counts since the last success. The row is deleted after
-- `expires_at`.
CREATE TABLE push_deliveries (
    subscription_id uuid NOT NULL REFERENCES push_subscriptions (id) ON DELETE CASCADE,
    group_id uuid NOT NULL,
    user_id uuid NOT NULL,
    due_at timestamptz,
    free_at timestamptz,
    expires_at timestamptz NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    attempts integer NOT NULL CHECK (attempts >= 0),
    failures integer NOT NULL CHECK (failures >= 0),
    PRIMARY KEY (subscription_id, group_id)
);
CREATE INDEX push_deliveries_due ON push_deliveries (due_at, subscription_id, group_id) WHERE due_at IS NOT NULL;
CREATE INDEX push_deliveries_by_expiry ON push_deliveries (expires_at);

-- Messages about notifications that all accounts share. They are enqueued in portions: `next_at` is when the next portion is
-- due, null after the last one, and `after_id` is the last subscription that has the message.
CREATE TABLE push_broadcasts (
    group_id uuid PRIMARY KEY,
    after_id uuid,
    next_at timestamptz,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX push_broadcasts_due ON push_broadcasts (next_at, group_id) WHERE next_at IS NOT NULL;
CREATE INDEX push_broadcasts_by_expiry ON push_broadcasts (expires_at);
