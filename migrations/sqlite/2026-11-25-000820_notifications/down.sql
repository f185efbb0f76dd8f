DROP TABLE first_hundreds;
DROP TABLE shared_notification_reads;
DROP TABLE shared_notifications;
DROP TABLE notification_quotas;
DROP TABLE notification_actors;
DROP TABLE notifications;
DROP TABLE notification_preferences;
DROP TABLE notification_inboxes;
DELETE FROM event_consumers WHERE name = 'notify';
