-- What was granted without a purchase has no place in the older schema.
DELETE FROM mint_messages WHERE owned_id IN (SELECT id FROM owned_collectibles WHERE grant_id IS NOT NULL
    OR copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL));
DELETE FROM owned_collectibles WHERE grant_id IS NOT NULL
    OR copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL);
DELETE FROM pack_openings WHERE copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL);
DELETE FROM user_packs WHERE grant_id IS NOT NULL;
ALTER TABLE owned_collectibles DROP COLUMN grant_id, ALTER COLUMN copy_id SET NOT NULL;
ALTER TABLE user_packs DROP COLUMN grant_id, ALTER COLUMN purchase_id SET NOT NULL;
ALTER TABLE products ADD COLUMN coins bigint CHECK (coins >= 1), ADD CHECK (coins IS NULL OR kind = 'digital');
UPDATE products SET coins = (SELECT sum(amount) FROM product_grants g WHERE g.product_id = products.id AND g.kind = 'coins');
ALTER TABLE order_lines ADD COLUMN granted bigint NOT NULL DEFAULT 0 CHECK (granted >= 0);
ALTER TABLE order_lines ALTER COLUMN granted DROP DEFAULT;
UPDATE order_lines SET granted = (SELECT coalesce(sum(amount), 0) FROM order_line_grants g WHERE g.line_id = order_lines.id AND g.kind = 'coins');
DROP TABLE order_line_grants;
DROP TABLE product_grants;
DROP TABLE grants;
