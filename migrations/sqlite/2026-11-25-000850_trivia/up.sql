-- Rounds of trivia, as content files describe them. `script` is the text of which the commitment is the digest: it contains the
-- right options. `published` counts the milestones whose events were appended.
CREATE TABLE trivia_rounds (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('live', 'solo')),
    team_id BLOB REFERENCES teams (id),
    starts_at INTEGER NOT NULL,
    closes_at INTEGER NOT NULL,
    seconds INTEGER NOT NULL CHECK (seconds BETWEEN 5 AND 120),
    reveal INTEGER NOT NULL CHECK (reveal BETWEEN 3 AND 30),
    max_points INTEGER NOT NULL CHECK (max_points BETWEEN 1 AND 10000),
    question_count INTEGER NOT NULL CHECK (question_count >= 1),
    award INTEGER NOT NULL CHECK (award >= 0),
    script TEXT NOT NULL,
    is_cancelled INTEGER NOT NULL CHECK (is_cancelled IN (0, 1)),
    published INTEGER NOT NULL CHECK (published >= 0),
    is_finished INTEGER NOT NULL CHECK (is_finished IN (0, 1)),
    CHECK (starts_at < closes_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX trivia_rounds_start ON trivia_rounds (starts_at, id);
CREATE INDEX trivia_rounds_end ON trivia_rounds (closes_at, id);
CREATE INDEX trivia_rounds_unfinished ON trivia_rounds (starts_at) WHERE NOT is_finished;

-- Fans who joined a round. `paid` is what they were awarded for it, null until then.
CREATE TABLE trivia_players (
    round_id BLOB NOT NULL REFERENCES trivia_rounds (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    joined_at INTEGER NOT NULL,
    paid INTEGER CHECK (paid >= 0),
    paid_at INTEGER,
    PRIMARY KEY (round_id, user_id),
    CHECK ((paid IS NULL) = (paid_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX trivia_players_of_user ON trivia_players (user_id, joined_at, round_id);
CREATE INDEX trivia_players_unpaid ON trivia_players (round_id, user_id) WHERE paid_at IS NULL;

-- Questions that fans got, with their answers. `taken` is the time of the answer in milliseconds, `points` its score.
CREATE TABLE trivia_answers (
    round_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    place INTEGER NOT NULL CHECK (place >= 0),
    question_id BLOB NOT NULL,
    served_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    option_id BLOB,
    arrived_at INTEGER,
    taken INTEGER CHECK (taken >= 0),
    points INTEGER CHECK (points >= 0),
    PRIMARY KEY (round_id, user_id, place),
    FOREIGN KEY (round_id, user_id) REFERENCES trivia_players (round_id, user_id),
    CHECK ((option_id IS NULL) = (arrived_at IS NULL)),
    CHECK ((option_id IS NULL) = (taken IS NULL)),
    CHECK ((option_id IS NULL) = (points IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX trivia_answers_of_question ON trivia_answers (round_id, question_id, option_id);
