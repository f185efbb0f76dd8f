DROP TABLE mint_reports;
ALTER TABLE owned_collectibles DROP COLUMN token_transaction;
ALTER TABLE owned_collectibles DROP COLUMN token_id;
ALTER TABLE owned_collectibles DROP COLUMN token_contract;
ALTER TABLE owned_collectibles DROP COLUMN token_network;
ALTER TABLE owned_collectibles DROP COLUMN token_state;
