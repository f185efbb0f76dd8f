-- What the minter reported of a copy: the token that it minted, and whether that was burned. A burned one may be reported
-- before it was minted.
ALTER TABLE owned_collectibles ADD COLUMN token_state TEXT CHECK (token_state IN ('minted', 'burned'));
ALTER TABLE owned_collectibles ADD COLUMN token_network TEXT;
ALTER TABLE owned_collectibles ADD COLUMN token_contract TEXT;
ALTER TABLE owned_collectibles ADD COLUMN token_id TEXT;
ALTER TABLE owned_collectibles ADD COLUMN token_transaction TEXT;

-- Reports of the minter, each event once, inserted in the transaction of its effect. No foreign key: a report can name a copy
-- that does not exist.
CREATE TABLE mint_reports (
    event_id TEXT PRIMARY KEY NOT NULL,
    owned_id BLOB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('minted', 'failed', 'burned')),
    network TEXT,
    contract TEXT,
    token_id TEXT,
    transaction_id TEXT,
    received_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch'))
) STRICT, WITHOUT ROWID;
CREATE INDEX mint_reports_by_copy ON mint_reports (owned_id);
CREATE INDEX mint_reports_received ON mint_reports (received_at);
