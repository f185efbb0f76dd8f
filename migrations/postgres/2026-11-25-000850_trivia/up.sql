-- Rounds of trivia, as content files describe them. `script` is the text of which the commitment is the digest: it contains the
-- right options. `published` counts the milestones whose events were appended.
CREATE TABLE trivia_rounds (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    title text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('live', 'solo')),
    team_id uuid REFERENCES teams (id),
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    seconds integer NOT NULL CHECK (seconds BETWEEN 5 AND 120),
    reveal integer NOT NULL CHECK (reveal BETWEEN 3 AND 30),
    max_points integer NOT NULL CHECK (max_points BETWEEN 1 AND 10000),
    question_count integer NOT NULL CHECK (question_count >= 1),
    award integer NOT NULL CHECK (award >= 0),
    script text NOT NULL,
    is_cancelled boolean NOT NULL,
    published integer NOT NULL CHECK (published >= 0),
    is_finished boolean NOT NULL,
    CHECK (starts_at < closes_at)
);
CREATE INDEX trivia_rounds_start ON trivia_rounds (starts_at, id);
CREATE INDEX trivia_rounds_end ON trivia_rounds (closes_at, id);
CREATE INDEX trivia_rounds_unfinished ON trivia_rounds (starts_at) WHERE NOT is_finished;

-- Fans who joined a round. `paid` is what they were awarded for it, null until then.
CREATE TABLE trivia_players (
    round_id uuid NOT NULL REFERENCES trivia_rounds (id),
    user_id uuid NOT NULL REFERENCES users (id),
    joined_at timestamptz NOT NULL,
    paid integer CHECK (paid >= 0),
    paid_at timestamptz,
    PRIMARY KEY (round_id, user_id),
    CHECK ((paid IS NULL) = (paid_at IS NULL))
);
CREATE INDEX trivia_players_of_user ON trivia_players (user_id, joined_at, round_id);
CREATE INDEX trivia_players_unpaid ON trivia_players (round_id, user_id) WHERE paid_at IS NULL;

-- Questions that fans got, with their answers. `taken` is the time of the answer in milliseconds, `points` its score.
CREATE TABLE trivia_answers (
    round_id uuid NOT NULL,
    user_id uuid NOT NULL,
    place integer NOT NULL CHECK (place >= 0),
    question_id uuid NOT NULL,
    served_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    option_id uuid,
    arrived_at timestamptz,
    taken integer CHECK (taken >= 0),
    points integer CHECK (points >= 0),
    PRIMARY KEY (round_id, user_id, place),
    FOREIGN KEY (round_id, user_id) REFERENCES trivia_players (round_id, user_id),
    CHECK ((option_id IS NULL) = (arrived_at IS NULL)),
    CHECK ((option_id IS NULL) = (taken IS NULL)),
    CHECK ((option_id IS NULL) = (points IS NULL))
);
CREATE INDEX trivia_answers_of_question ON trivia_answers (round_id, question_id, option_id);
