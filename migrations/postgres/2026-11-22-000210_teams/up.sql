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
