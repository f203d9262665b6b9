-- Who used a coupon, a row for each use: an id of a user, or an e-mail address. Uses of an earlier
-- time are in the details of the coupon until the next one.
CREATE TABLE coupon_uses (
  site_id @int NOT NULL,
  use_id @int NOT NULL,
  coupon_id @int NOT NULL,
  used_by @text NOT NULL,
  PRIMARY KEY (site_id, use_id),
  FOREIGN KEY (site_id, coupon_id) REFERENCES coupons (site_id, coupon_id) ON DELETE CASCADE
) @strict;
CREATE INDEX coupon_uses_by_coupon ON coupon_uses (coupon_id, used_by, use_id, site_id);
