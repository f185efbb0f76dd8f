-- Subscriptions at push services, one for each session. `key_id` names the key of the service that the browser subscribed
-- with; `p256dh` and `auth` are the keys that messages are encrypted for.
CREATE TABLE push_subscriptions (
    id BLOB PRIMARY KEY NOT NULL,
    session_id BLOB NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
    user_id BLOB NOT NULL REFERENCES users (id),
    endpoint TEXT NOT NULL UNIQUE,
    p256dh BLOB NOT NULL CHECK (length(p256dh) = 65),
    auth BLOB NOT NULL CHECK (length(auth) = 16),
    key_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX push_subscriptions_by_user ON push_subscriptions (user_id, id);

-- Messages to subscriptions, one for each notification. `due_at` is when it is sent next, null if nothing is to be sent.
-- Before `free_at` no further message about the notification is sent. `version` grows whenever the message is enqueued,
-- `attempts` with each attempt, which it identifies; `failures` counts since the last success. The row is deleted after
-- `expires_at`.
CREATE TABLE push_deliveries (
    subscription_id BLOB NOT NULL REFERENCES push_subscriptions (id) ON DELETE CASCADE,
    group_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    due_at INTEGER,
    free_at INTEGER,
    expires_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    failures INTEGER NOT NULL CHECK (failures >= 0),
    PRIMARY KEY (subscription_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_deliveries_due ON push_deliveries (due_at, subscription_id, group_id) WHERE due_at IS NOT NULL;
CREATE INDEX push_deliveries_by_expiry ON push_deliveries (expires_at);

-- Messages about notifications that all accounts share. They are enqueued in portions: `next_at` is when the next portion is
-- due, null after the last one, and `after_id` is the last subscription that has the message.
CREATE TABLE push_broadcasts (
    group_id BLOB PRIMARY KEY NOT NULL,
    after_id BLOB,
    next_at INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX push_broadcasts_due ON push_broadcasts (next_at, group_id) WHERE next_at IS NOT NULL;
CREATE INDEX push_broadcasts_by_expiry ON push_broadcasts (expires_at);
