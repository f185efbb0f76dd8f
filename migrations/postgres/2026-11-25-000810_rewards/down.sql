DROP TABLE reward_codes;
DROP TABLE reward_claims;
DROP TABLE tills;
DROP TABLE reward_stock;
DROP TABLE reward_requirements;
DROP TABLE rewards;
