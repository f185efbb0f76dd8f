DROP INDEX users_without_name_skeleton;
DROP INDEX users_by_name_skeleton;
ALTER TABLE users DROP COLUMN name_skeleton;
