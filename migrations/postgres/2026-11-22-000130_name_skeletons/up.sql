-- What a username looks like (UTS 39): two look-alikes have one skeleton, and only one of them is registered. SQL cannot
-- compute it: the job and task `backfill-name-skeletons` fill it in where it is missing. It stays NULL where
-- an earlier account has the same skeleton. Like `username_key`, it stays when an account is deleted.
ALTER TABLE users ADD COLUMN name_skeleton text;
CREATE UNIQUE INDEX users_by_name_skeleton ON users (name_skeleton) WHERE name_skeleton IS NOT NULL;
CREATE INDEX users_without_name_skeleton ON users (id) WHERE name_skeleton IS NULL;
