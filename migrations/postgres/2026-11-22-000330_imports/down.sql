DROP TABLE legacy_team_follows;
DROP TABLE legacy_follows;
DROP TABLE legacy_entries;
DROP TABLE legacy_steps;
DROP TABLE legacy_runs;
DROP TABLE legacy_points;
DROP TABLE legacy_users;
DROP TABLE imports;
