DROP TABLE cart_lines;
DROP TABLE carts;
