DROP TABLE wallet_balances;
DROP TABLE wallets;
