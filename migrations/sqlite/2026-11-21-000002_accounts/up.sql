CREATE TABLE leagues (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    sport TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE teams (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    short_name TEXT NOT NULL,
    league_id BLOB NOT NULL REFERENCES leagues (id),
    primary_color TEXT NOT NULL,
    secondary_color TEXT NOT NULL,
    crest_url TEXT,
    follower_count INTEGER NOT NULL DEFAULT 0 CHECK (follower_count >= 0),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX teams_by_league ON teams (league_id, key);

-- `username_key` is the name after NFKC and case folding: two names with one key are one name. A deleted
-- account keeps its key, so that the name is not given out again.
CREATE TABLE users (
    id BLOB PRIMARY KEY NOT NULL,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    bio TEXT NOT NULL,
    picture BLOB,
    favorite_team_id BLOB REFERENCES teams (id),
    time_zone TEXT NOT NULL,
    leaderboard_visible INTEGER NOT NULL DEFAULT 1 CHECK (leaderboard_visible IN (0, 1)),
    role TEXT NOT NULL CHECK (role IN ('fan', 'team_manager', 'admin', 'super_admin')),
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended', 'deleted')),
    follower_count INTEGER NOT NULL DEFAULT 0 CHECK (follower_count >= 0),
    following_count INTEGER NOT NULL DEFAULT 0 CHECK (following_count >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX users_by_favorite_team ON users (favorite_team_id) WHERE favorite_team_id IS NOT NULL;

-- Apart from `users`, so that no query for a profile can carry a hash along.
CREATE TABLE credentials (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    password_hash TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL CHECK (kind IN ('browser', 'mobile')),
    device_name TEXT,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at DESC, id DESC);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX sessions_by_end ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Only hashes: whoever reads this table can sign in as nobody.
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    session_id BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('cookie', 'access', 'refresh')),
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_session ON tokens (session_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
