DROP TABLE presence;
DROP TABLE tokens;
DROP TABLE sessions;
DROP TABLE credentials;
DROP TABLE users;
