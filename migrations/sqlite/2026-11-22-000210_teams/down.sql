DROP TABLE teams;
DROP TABLE leagues;
