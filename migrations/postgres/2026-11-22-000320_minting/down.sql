DROP TABLE mint_lanes;
DROP TABLE mint_messages;
-- No message about a copy is left.
UPDATE owned_collectibles SET is_told = false WHERE is_told;
