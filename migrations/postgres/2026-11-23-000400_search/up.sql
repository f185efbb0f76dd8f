-- The search index. It is derived from users, teams and posts: `repair-search` can make all of it again. Its texts are
-- normalised and case folded by the program, and compared byte by byte.

-- The texts by which fans and teams are found: each name, and each name from one of its later words on.
CREATE TABLE search_names (
    owner_id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('user', 'team')),
    is_part boolean NOT NULL,
    PRIMARY KEY (owner_id, name)
);
-- Whole names come before others with the same text.
CREATE INDEX search_names_by_name ON search_names (kind, name, is_part, owner_id);

-- The words of each post. A newer post has a greater number.
CREATE TABLE search_posts (
    number bigint PRIMARY KEY,
    post_id uuid NOT NULL UNIQUE REFERENCES posts (id),
    words tsvector NOT NULL
);
-- Without a pending list, so that a search costs the same after any number of writes.
CREATE INDEX search_posts_by_word ON search_posts USING gin (words) WITH (fastupdate = off);

-- The number of rows of `search_posts` that contain each word: it decides how a search is carried out.
CREATE TABLE search_words (
    word text COLLATE "C" PRIMARY KEY,
    posts bigint NOT NULL
);

CREATE INDEX post_topics_by_tag ON post_topics (tag COLLATE "C", post_id DESC);
