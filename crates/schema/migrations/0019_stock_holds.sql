-- Pieces that the draft of a checkout keeps for its buyer for a short time, in millionths.
CREATE TABLE stock_holds (
  site_id @int NOT NULL,
  order_id @int NOT NULL,
  product_id @int NOT NULL,
  quantity @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, order_id, product_id)
) @strict;
CREATE INDEX stock_holds_by_product ON stock_holds (product_id, expires_us, site_id);
CREATE INDEX stock_holds_expiring ON stock_holds (expires_us, site_id);
