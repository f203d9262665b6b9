-- What somebody wants to buy, until they order it or leave it. The key is the id of a user, or one
-- of a guest's that nobody can guess. The order is the draft of a checkout that was not finished.
CREATE TABLE carts (
  site_id @int NOT NULL,
  cart_key @text NOT NULL,
  contents @text NOT NULL,
  order_id @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, cart_key)
) @strict;
CREATE INDEX carts_expiring ON carts (expires_us, cart_key, site_id);
