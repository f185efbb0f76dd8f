DROP TABLE maintenance_runs;
