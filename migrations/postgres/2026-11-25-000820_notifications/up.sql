-- The inbox of a user. `listed` and `unread` count rows of `notifications`. `level` is the highest level of which the user was
-- notified. Quiet hours are minutes of the local day; `streak_warned_on` is a local date.
CREATE TABLE notification_inboxes (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    listed bigint NOT NULL CHECK (listed >= 0),
    unread bigint NOT NULL CHECK (unread >= 0),
    level integer CHECK (level > 0),
    quiet_from integer CHECK (quiet_from BETWEEN 0 AND 1439),
    quiet_to integer CHECK (quiet_to BETWEEN 0 AND 1439),
    streak_warned_on text,
    CHECK ((quiet_from IS NULL) = (quiet_to IS NULL)),
    CHECK (unread <= listed)
);

-- The kinds that a user wants otherwise than by default.
CREATE TABLE notification_preferences (
    user_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL,
    in_app boolean NOT NULL,
    push boolean NOT NULL,
    PRIMARY KEY (user_id, kind)
);

-- A row is a group: what happened of one kind about one subject within a day. `listed` rows are in the inbox; `in_app` rows
-- belong there. `position` is that of the last event. Expired rows are taken out of the inbox, then removed in portions.
CREATE TABLE notifications (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    object_id uuid,
    detail text,
    actor_count bigint NOT NULL CHECK (actor_count >= 0),
    in_app boolean NOT NULL,
    listed boolean NOT NULL,
    position bigint NOT NULL,
    read_at timestamptz,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CHECK (in_app OR NOT listed)
);
CREATE INDEX notifications_of_subject ON notifications (user_id, kind, subject_id, created_at DESC);
CREATE INDEX notifications_newest ON notifications (user_id, created_at DESC, id DESC) WHERE listed;
CREATE INDEX notifications_of_user ON notifications (user_id, created_at DESC, id DESC);
CREATE INDEX notifications_unread ON notifications (user_id, position) WHERE listed AND read_at IS NULL;
CREATE INDEX notifications_of_mentions ON notifications (subject_id, user_id) WHERE kind = 'mention';
CREATE INDEX notifications_expired ON notifications (expires_at, id);

-- The users who caused a group. `source_id` is the newest comment of the actor, for groups of comments.
CREATE TABLE notification_actors (
    actor_id uuid NOT NULL REFERENCES users (id),
    user_id uuid NOT NULL REFERENCES users (id),
    notification_id uuid NOT NULL REFERENCES notifications (id),
    source_id uuid,
    position bigint NOT NULL,
    PRIMARY KEY (actor_id, user_id, notification_id)
);
CREATE INDEX notification_actors_last ON notification_actors (notification_id, position DESC, actor_id);

-- How many notifications of a user another has caused on a UTC date, given as the days since 1970.
CREATE TABLE notification_quotas (
    user_id uuid NOT NULL REFERENCES users (id),
    actor_id uuid NOT NULL REFERENCES users (id),
    day bigint NOT NULL,
    used integer NOT NULL CHECK (used > 0),
    PRIMARY KEY (user_id, actor_id, day)
);
CREATE INDEX notification_quotas_of_actor ON notification_quotas (actor_id);
CREATE INDEX notification_quotas_by_day ON notification_quotas (day);

-- Notifications of all users. They are merged with those of a user when the inbox is read.
CREATE TABLE shared_notifications (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    detail text NOT NULL,
    position bigint NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    UNIQUE (kind, subject_id, detail)
);
CREATE INDEX shared_notifications_newest ON shared_notifications (created_at DESC, id DESC);
CREATE TABLE shared_notification_reads (
    user_id uuid NOT NULL REFERENCES users (id),
    notification_id uuid NOT NULL REFERENCES shared_notifications (id),
    read_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, notification_id)
);
CREATE INDEX shared_notification_reads_of ON shared_notification_reads (notification_id, user_id);

-- The first hundred of each board when they were last compared.
CREATE TABLE first_hundreds (
    leaderboard_id uuid NOT NULL REFERENCES leaderboards (id),
    user_id uuid NOT NULL REFERENCES users (id),
    season_id uuid NOT NULL REFERENCES seasons (id),
    PRIMARY KEY (leaderboard_id, user_id)
);
CREATE INDEX first_hundreds_of_user ON first_hundreds (user_id);

-- Events from before the upgrade notify no one.
INSERT INTO event_consumers (name, position)
SELECT 'notify', past.position FROM (
    SELECT position + (SELECT count(*) FROM outbox) AS position FROM event_head
) AS past WHERE past.position > 0;
