CREATE TABLE leagues (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    name text NOT NULL,
    country text NOT NULL,
    sport text NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE TABLE teams (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    name text NOT NULL,
    short_name text NOT NULL,
    league_id uuid NOT NULL REFERENCES leagues (id),
    primary_color text NOT NULL,
    secondary_color text NOT NULL,
    crest_url text,
    follower_count bigint NOT NULL DEFAULT 0 CHECK (follower_count >= 0),
    created_at timestamptz NOT NULL
);
CREATE INDEX teams_by_league ON teams (league_id, key);

-- `username_key` is the name after NFKC and case folding: two names with one key are one name. A deleted
-- account keeps its key, so that the name is not given out again.
CREATE TABLE users (
    id uuid PRIMARY KEY,
    username text NOT NULL,
    username_key text NOT NULL UNIQUE,
    display_name text NOT NULL,
    bio text NOT NULL,
    picture bytea,
    favorite_team_id uuid REFERENCES teams (id),
    time_zone text NOT NULL,
    leaderboard_visible boolean NOT NULL DEFAULT true,
    role text NOT NULL CHECK (role IN ('fan', 'team_manager', 'admin', 'super_admin')),
    status text NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
    follower_count bigint NOT NULL DEFAULT 0 CHECK (follower_count >= 0),
    following_count bigint NOT NULL DEFAULT 0 CHECK (following_count >= 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX users_by_favorite_team ON users (favorite_team_id) WHERE favorite_team_id IS NOT NULL;

-- Apart from `users`, so that no query for a profile can carry a hash along.
CREATE TABLE credentials (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    password_hash text NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL CHECK (kind IN ('browser', 'mobile')),
    device_name text,
    created_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at DESC, id DESC);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Only hashes: whoever reads this table can sign in as nobody.
CREATE TABLE tokens (
    hash bytea PRIMARY KEY,
    session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('cookie', 'access', 'refresh')),
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
CREATE INDEX tokens_by_session ON tokens (session_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
