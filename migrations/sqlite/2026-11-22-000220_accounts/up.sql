-- `username_key` is the name after NFKC and case folding: two names with the same key are the same name. A deleted account
-- keeps its key, so that the name is not assigned again. `name_skeleton` is what the name looks like (UTS 39): two
-- look-alikes have the same skeleton, and only one of them can be registered. SQL cannot compute it: the job and task
-- `backfill-name-skeletons` fill it in where it is missing. It stays NULL where an earlier account has the same skeleton.
-- Like `username_key`, it stays when an account is deleted.
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
    updated_at INTEGER NOT NULL,
    name_skeleton TEXT
) STRICT;
CREATE INDEX users_by_favorite_team ON users (favorite_team_id) WHERE favorite_team_id IS NOT NULL;
-- For the check whether a picture is in use.
CREATE INDEX users_by_picture ON users (picture) WHERE picture IS NOT NULL;
CREATE UNIQUE INDEX users_by_name_skeleton ON users (name_skeleton) WHERE name_skeleton IS NOT NULL;
CREATE INDEX users_without_name_skeleton ON users (id) WHERE name_skeleton IS NULL;

-- Separate from `users`, so that no profile query can return a password hash.
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

-- Only hashes of tokens: reading this table is not enough to sign in.
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY NOT NULL,
    session_id BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('cookie', 'access', 'refresh')),
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_session ON tokens (session_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

-- When a session of the account was last used, rounded to the day: sessions themselves are deleted soon after they end.
-- Separate from `users`, whose rows are read and locked by many other statements.
CREATE TABLE presence (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
