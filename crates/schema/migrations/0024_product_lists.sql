-- How many products there are of each kind and status, so that a list of them tells it without
-- counting. Each count is the sum of several rows, so that writers seldom meet. What is here follows
-- from the products, and is worked out anew at each start.
CREATE TABLE product_counts (
  site_id @int NOT NULL,
  kind @text NOT NULL,
  status @text NOT NULL,
  slot @int NOT NULL,
  products @int NOT NULL,
  PRIMARY KEY (site_id, kind, status, slot)
) @strict;

-- The first products of a list by date, and by their places in the catalogue, are found in order.
CREATE INDEX products_in_order ON products (status, created_us, product_id, kind, site_id);
CREATE INDEX products_by_place ON products (status, menu_order, name_key, product_id, kind, site_id);
