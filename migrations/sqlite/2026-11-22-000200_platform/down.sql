DROP TABLE secret_marks;
DROP TABLE maintenance_runs;
DROP TABLE backfills;
DROP TABLE job_runs;
DROP TABLE idempotency_keys;
DROP TABLE leases;
DROP TABLE event_consumers;
DROP TABLE events;
