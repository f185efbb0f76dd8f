DROP TABLE tokens;
DROP TABLE sessions;
DROP TABLE credentials;
DROP TABLE users;
DROP TABLE teams;
DROP TABLE leagues;
