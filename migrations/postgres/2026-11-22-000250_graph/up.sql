-- Follows between accounts. The transaction that writes a row also updates the counters in `users` (or `teams`).
CREATE TABLE follows (
    follower_id uuid NOT NULL REFERENCES users (id),
    followee_id uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (follower_id, followee_id),
    CHECK (follower_id <> followee_id)
);
CREATE INDEX follows_newest_of_follower ON follows (follower_id, created_at DESC, followee_id DESC);
CREATE INDEX follows_newest_of_followee ON follows (followee_id, created_at DESC, follower_id DESC);

CREATE TABLE team_follows (
    user_id uuid NOT NULL REFERENCES users (id),
    team_id uuid NOT NULL REFERENCES teams (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, team_id)
);
CREATE INDEX team_follows_of_team ON team_follows (team_id, user_id);

-- A block hides each of the two accounts from the other, so both directions are looked up.
CREATE TABLE blocks (
    blocker_id uuid NOT NULL REFERENCES users (id),
    blocked_id uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (blocker_id, blocked_id),
    CHECK (blocker_id <> blocked_id)
);
CREATE INDEX blocks_of_blocked ON blocks (blocked_id, blocker_id);

-- Accounts that a user does not want recommended again.
CREATE TABLE dismissals (
    user_id uuid NOT NULL REFERENCES users (id),
    dismissed_id uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, dismissed_id)
);
CREATE INDEX dismissals_of_dismissed ON dismissals (dismissed_id);
