-- Quests come from content files and are identified by stable keys: a change of the wording changes nothing else. A quest
-- that was removed from the content is retired and keeps its rows.
CREATE TABLE quests (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    cadence text NOT NULL CHECK (cadence IN ('once', 'daily')),
    team_id uuid REFERENCES teams (id),
    bonus bigint NOT NULL CHECK (bonus >= 0),
    is_onboarding boolean NOT NULL,
    is_sequential boolean NOT NULL,
    opens_at timestamptz,
    closes_at timestamptz,
    is_retired boolean NOT NULL
);

CREATE TABLE quest_prerequisites (
    quest_id uuid NOT NULL REFERENCES quests (id),
    required_id uuid NOT NULL REFERENCES quests (id),
    PRIMARY KEY (quest_id, required_id)
);

-- `check_text` is null for a step that the user confirms.
CREATE TABLE quest_steps (
    id uuid PRIMARY KEY,
    quest_id uuid NOT NULL REFERENCES quests (id),
    key text NOT NULL,
    place integer NOT NULL,
    title text NOT NULL,
    is_required boolean NOT NULL,
    points bigint NOT NULL CHECK (points >= 0),
    check_text text,
    is_retired boolean NOT NULL,
    UNIQUE (quest_id, key)
);

-- A user's progress in a quest. `period` is empty for a quest that is done once and the user's local date for a daily quest:
-- it is part of the primary key and never null.
CREATE TABLE user_quest_status (
    user_id uuid NOT NULL REFERENCES users (id),
    quest_id uuid NOT NULL REFERENCES quests (id),
    period text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'completed')),
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (user_id, quest_id, period),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);

CREATE TABLE user_step_status (
    user_id uuid NOT NULL REFERENCES users (id),
    step_id uuid NOT NULL REFERENCES quest_steps (id),
    period text NOT NULL,
    completed_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, step_id, period)
);

-- The streak of a user's daily visits. Dates are the user's local dates. `change_to` is a time zone that applies from
-- `change_from` on; `jumped` lists dates that a change of the time zone skipped.
CREATE TABLE daily_visits (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    last_paid text,
    zone text NOT NULL,
    change_to text,
    change_from timestamptz,
    jumped text NOT NULL,
    streak integer NOT NULL CHECK (streak >= 0),
    longest integer NOT NULL CHECK (longest >= streak),
    freezes integer NOT NULL CHECK (freezes >= 0),
    CHECK ((change_to IS NULL) = (change_from IS NULL))
);

CREATE TABLE user_achievements (
    user_id uuid NOT NULL REFERENCES users (id),
    achievement_key text NOT NULL,
    unlocked_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, achievement_key)
);
