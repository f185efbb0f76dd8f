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
