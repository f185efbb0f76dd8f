-- What waits for its payment of a pack, for the share of it that new accounts may hold.
CREATE INDEX pack_purchases_unpaid_of_pack ON pack_purchases (pack_id, user_id, quantity) WHERE state = 'pending';
