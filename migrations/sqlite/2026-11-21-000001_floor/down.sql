DROP TABLE idempotency_keys;
DROP TABLE leases;
DROP TABLE event_consumers;
DROP TABLE events;
