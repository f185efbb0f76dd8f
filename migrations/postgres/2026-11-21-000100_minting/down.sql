DROP TABLE mint_lanes;
DROP TABLE mint_messages;
ALTER TABLE owned_collectibles DROP COLUMN is_told;
