DROP TABLE order_lines;
DROP TABLE orders;
DROP TABLE catalogue_version;
ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfers_debit_house_check,
    DROP CONSTRAINT ledger_transfers_credit_house_check,
    ADD CONSTRAINT ledger_transfers_debit_house_check CHECK (debit_house IN ('issuance', 'revenue', 'payments', 'written_off')),
    ADD CONSTRAINT ledger_transfers_credit_house_check CHECK (credit_house IN ('issuance', 'revenue', 'payments', 'written_off'));
