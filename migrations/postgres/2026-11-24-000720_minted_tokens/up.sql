-- What the minter reported of a copy: the token that it minted, and whether that was burned. A burned one may be reported
-- before it was minted.
ALTER TABLE owned_collectibles ADD COLUMN token_state text CHECK (token_state IN ('minted', 'burned'));
ALTER TABLE owned_collectibles ADD COLUMN token_network text;
ALTER TABLE owned_collectibles ADD COLUMN token_contract text;
ALTER TABLE owned_collectibles ADD COLUMN token_id text;
ALTER TABLE owned_collectibles ADD COLUMN token_transaction text;

-- Reports of the minter, each event once, inserted in the transaction of its effect. No foreign key: a report can name a copy
-- that does not exist.
CREATE TABLE mint_reports (
    event_id text PRIMARY KEY,
    owned_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('minted', 'failed', 'burned')),
    network text,
    contract text,
    token_id text,
    transaction_id text,
    received_at timestamptz NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('applied', 'nothing', 'mismatch'))
);
CREATE INDEX mint_reports_by_copy ON mint_reports (owned_id);
CREATE INDEX mint_reports_received ON mint_reports (received_at);
