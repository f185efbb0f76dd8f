DROP TABLE tax_rates;
DROP TABLE shipping_methods;
DROP TABLE variant_stock;
DROP TABLE variant_prices;
DROP TABLE product_variants;
DROP TABLE products;
DROP TABLE product_categories;
