-- The search index. It is derived from users, teams and posts: `repair-search` can make all of it again. Its texts are
-- normalised and case folded by the program, and compared byte by byte.

-- The texts by which fans and teams are found: each name, and each name from one of its later words on.
CREATE TABLE search_names (
    owner_id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'team')),
    is_part INTEGER NOT NULL CHECK (is_part IN (0, 1)),
    PRIMARY KEY (owner_id, name)
) STRICT, WITHOUT ROWID;
-- Whole names come before others with the same text.
CREATE INDEX search_names_by_name ON search_names (kind, name, is_part, owner_id);

-- The words of each post, with a space between each two. A newer post has a greater number.
CREATE TABLE search_posts (
    number INTEGER PRIMARY KEY NOT NULL,
    post_id BLOB NOT NULL UNIQUE REFERENCES posts (id),
    words TEXT NOT NULL
) STRICT;

-- The words are made by the program: the tokenizer only splits them at spaces.
CREATE VIRTUAL TABLE search_index USING fts5 (
    words, content = 'search_posts', content_rowid = 'number', tokenize = 'ascii', detail = 'none', columnsize = 0
);
CREATE TRIGGER search_posts_inserted AFTER INSERT ON search_posts BEGIN
    INSERT INTO search_index (rowid, words) VALUES (new.number, new.words);
END;
CREATE TRIGGER search_posts_deleted AFTER DELETE ON search_posts BEGIN
    INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', old.number, old.words);
END;
CREATE TRIGGER search_posts_updated AFTER UPDATE ON search_posts BEGIN
    INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', old.number, old.words);
    INSERT INTO search_index (rowid, words) VALUES (new.number, new.words);
END;

-- The number of rows of `search_posts` that contain each word: it decides how a search is carried out.
CREATE TABLE search_words (
    word TEXT PRIMARY KEY NOT NULL,
    posts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
