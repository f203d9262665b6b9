-- The orders of a guest, who is known by an e-mail address.
CREATE INDEX orders_by_email ON orders (LOWER(billing_email), kind, order_id, site_id);
