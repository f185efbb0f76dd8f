DROP TABLE idempotency_keys;
DROP TABLE leases;
DROP TABLE event_consumers;
DROP TABLE event_head;
DROP TABLE events;
DROP TABLE outbox;
