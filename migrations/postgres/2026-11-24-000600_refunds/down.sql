-- Refunds of single lines are lost, and a failed refund is owed again.
ALTER TABLE payments ADD COLUMN refund text CHECK (refund IN ('owed', 'given'));
UPDATE payments SET
    refund = CASE WHEN EXISTS (SELECT 1 FROM refunds WHERE refunds.payable_id = payments.payable_id AND refunds.state <> 'given')
        THEN 'owed' ELSE 'given' END,
    due_at = (SELECT min(refunds.due_at) FROM refunds WHERE refunds.payable_id = payments.payable_id)
    WHERE payable_id IN (SELECT id FROM pack_purchases WHERE state = 'refunded' UNION ALL SELECT id FROM orders WHERE state = 'refunded');
ALTER TABLE order_lines DROP COLUMN refund_id;
DROP TABLE refunds;
