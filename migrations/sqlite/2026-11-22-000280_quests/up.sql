-- Quests come from content files and are identified by stable keys: a change of the wording changes nothing else. A quest
-- that was removed from the content is retired and keeps its rows.
CREATE TABLE quests (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    cadence TEXT NOT NULL CHECK (cadence IN ('once', 'daily')),
    team_id BLOB REFERENCES teams (id),
    bonus INTEGER NOT NULL CHECK (bonus >= 0),
    is_onboarding INTEGER NOT NULL CHECK (is_onboarding IN (0, 1)),
    is_sequential INTEGER NOT NULL CHECK (is_sequential IN (0, 1)),
    opens_at INTEGER,
    closes_at INTEGER,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE quest_prerequisites (
    quest_id BLOB NOT NULL REFERENCES quests (id),
    required_id BLOB NOT NULL REFERENCES quests (id),
    PRIMARY KEY (quest_id, required_id)
) STRICT, WITHOUT ROWID;

-- `check_text` is null for a step that the user confirms.
CREATE TABLE quest_steps (
    id BLOB PRIMARY KEY NOT NULL,
    quest_id BLOB NOT NULL REFERENCES quests (id),
    key TEXT NOT NULL,
    place INTEGER NOT NULL,
    title TEXT NOT NULL,
    is_required INTEGER NOT NULL CHECK (is_required IN (0, 1)),
    points INTEGER NOT NULL CHECK (points >= 0),
    check_text TEXT,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    UNIQUE (quest_id, key)
) STRICT, WITHOUT ROWID;

-- A user's progress in a quest. `period` is empty for a quest that is done once and the user's local date for a daily quest:
-- it is part of the primary key and never null.
CREATE TABLE user_quest_status (
    user_id BLOB NOT NULL REFERENCES users (id),
    quest_id BLOB NOT NULL REFERENCES quests (id),
    period TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'completed')),
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (user_id, quest_id, period),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE user_step_status (
    user_id BLOB NOT NULL REFERENCES users (id),
    step_id BLOB NOT NULL REFERENCES quest_steps (id),
    period TEXT NOT NULL,
    completed_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, step_id, period)
) STRICT, WITHOUT ROWID;

-- The streak of a user's daily visits. Dates are the user's local dates. `change_to` is a time zone that applies from
-- `change_from` on; `jumped` lists dates that a change of the time zone skipped.
CREATE TABLE daily_visits (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    last_paid TEXT,
    zone TEXT NOT NULL,
    change_to TEXT,
    change_from INTEGER,
    jumped TEXT NOT NULL,
    streak INTEGER NOT NULL CHECK (streak >= 0),
    longest INTEGER NOT NULL CHECK (longest >= streak),
    freezes INTEGER NOT NULL CHECK (freezes >= 0),
    CHECK ((change_to IS NULL) = (change_from IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE user_achievements (
    user_id BLOB NOT NULL REFERENCES users (id),
    achievement_key TEXT NOT NULL,
    unlocked_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, achievement_key)
) STRICT, WITHOUT ROWID;
