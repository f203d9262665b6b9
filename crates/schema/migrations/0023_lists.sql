-- Lists of one ISO, the newest first, whatever others have.
DROP INDEX merchants_by_created;
DROP INDEX stores_by_created;
DROP INDEX tpns_by_created;
CREATE INDEX merchants_by_created ON merchants (iso_id, created_us, merchant_id);
CREATE INDEX stores_by_created ON stores (iso_id, created_us, store_id);
CREATE INDEX tpns_by_created ON tpns (iso_id, created_us, tpn);

-- Customers by their dates, and users who registered in a period. Who never did comes first.
CREATE INDEX customer_lookup_by_registration ON customer_lookup
  (COALESCE(registered_us, -9000000000000000000), customer_id, site_id);
CREATE INDEX customer_lookup_by_activity ON customer_lookup
  (COALESCE(last_active_us, -9000000000000000000), customer_id, site_id);
CREATE INDEX users_by_registration ON users (registered_us, site_id);

-- Orders by date with their status, so that lists which leave a few statuses out, and their counts,
-- read the index alone.
DROP INDEX orders_by_date;
DROP INDEX orders_by_change;
CREATE INDEX orders_by_date ON orders (kind, created_us, order_id, site_id, status);
CREATE INDEX orders_by_change ON orders (kind, modified_us, order_id, site_id, status);

-- What people search orders for.
@text_index orders (order_id, search);
