-- What a shop needs: products and what is said about them, coupons, taxes, downloads, orders.
--
-- Amounts of money and quantities are millionths (types::Amount). The columns that end in _key, and
-- search, are folded copies for searching and sorting. details is a JSON object with what is only
-- shown, never searched. Products, orders and coupons share the numbers of posts.

-- Products and variations. price is the least price of a variable product and price_max the
-- greatest; author_id and parent_id may name what is gone, or 0 for nothing.
CREATE TABLE products (
  site_id @int NOT NULL,
  product_id @int NOT NULL,
  kind @text NOT NULL,
  parent_id @int NOT NULL,
  status @text NOT NULL,
  slug @text NOT NULL,
  name @text NOT NULL,
  name_key @text NOT NULL,
  sku @text NOT NULL,
  sku_key @text NOT NULL,
  global_unique_id @text NOT NULL,
  description @text NOT NULL,
  description_key @text NOT NULL,
  short_description @text NOT NULL,
  short_description_key @text NOT NULL,
  price @int,
  price_max @int,
  regular_price @int,
  sale_price @int,
  on_sale @int NOT NULL,
  sale_from_us @int,
  sale_to_us @int,
  manage_stock @int NOT NULL,
  stock_quantity @int,
  stock_status @text NOT NULL,
  low_stock_amount @int,
  backorders @text NOT NULL,
  total_sales @int NOT NULL,
  average_rating @int NOT NULL,
  rating_count @int NOT NULL,
  featured @int NOT NULL,
  catalog_visibility @text NOT NULL,
  is_virtual @int NOT NULL,
  downloadable @int NOT NULL,
  tax_status @text NOT NULL,
  tax_class @text NOT NULL,
  menu_order @int NOT NULL,
  author_id @int NOT NULL,
  created_us @int NOT NULL,
  modified_us @int NOT NULL,
  trashed_status @text,
  details @text NOT NULL,
  PRIMARY KEY (site_id, product_id)
) @strict;
CREATE INDEX products_by_slug ON products (slug, site_id);
CREATE INDEX products_by_sku ON products (sku_key, site_id);
CREATE INDEX products_by_unique_id ON products (global_unique_id, site_id);
CREATE INDEX products_by_parent ON products (parent_id, menu_order, site_id);
CREATE INDEX products_by_date ON products (kind, status, created_us, site_id);
CREATE INDEX products_by_stock ON products (stock_status, stock_quantity, site_id);
CREATE INDEX products_by_sale ON products (sale_from_us, sale_to_us, site_id);

CREATE TABLE product_terms (
  site_id @int NOT NULL,
  product_id @int NOT NULL,
  term_id @int NOT NULL,
  PRIMARY KEY (site_id, product_id, term_id),
  FOREIGN KEY (site_id, product_id) REFERENCES products (site_id, product_id) ON DELETE CASCADE,
  FOREIGN KEY (site_id, term_id) REFERENCES terms (site_id, term_id) ON DELETE CASCADE
) @strict;
CREATE INDEX product_terms_by_term ON product_terms (term_id, site_id);

-- What makes a variation differ from its sisters; an empty value stands for any. pair_key is the
-- folded name, an equals sign and the folded value.
CREATE TABLE variation_attributes (
  site_id @int NOT NULL,
  product_id @int NOT NULL,
  position @int NOT NULL,
  name @text NOT NULL,
  value @text NOT NULL,
  value_key @text NOT NULL,
  pair_key @text NOT NULL,
  PRIMARY KEY (site_id, product_id, position),
  FOREIGN KEY (site_id, product_id) REFERENCES products (site_id, product_id) ON DELETE CASCADE
) @strict;
CREATE INDEX variation_attributes_by_pair ON variation_attributes (pair_key, site_id);

-- Attributes whose values are terms, of the taxonomy pa_ and the name.
CREATE TABLE attributes (
  site_id @int NOT NULL,
  attribute_id @int NOT NULL,
  name @text NOT NULL,
  label @text NOT NULL,
  label_key @text NOT NULL,
  kind @text NOT NULL,
  order_by @text NOT NULL,
  has_archives @int NOT NULL,
  PRIMARY KEY (site_id, attribute_id)
) @strict;
CREATE UNIQUE INDEX attributes_by_name ON attributes (name, site_id);

CREATE TABLE reviews (
  site_id @int NOT NULL,
  review_id @int NOT NULL,
  product_id @int NOT NULL,
  user_id @int NOT NULL,
  reviewer @text NOT NULL,
  email @text NOT NULL,
  email_key @text NOT NULL,
  review @text NOT NULL,
  rating @int NOT NULL,
  status @text NOT NULL,
  trashed_status @text,
  verified @int NOT NULL,
  created_us @int NOT NULL,
  search @text NOT NULL,
  PRIMARY KEY (site_id, review_id)
) @strict;
CREATE INDEX reviews_by_product ON reviews (product_id, status, site_id);
CREATE INDEX reviews_by_date ON reviews (status, created_us, site_id);
CREATE INDEX reviews_by_email ON reviews (email_key, site_id);

-- The same code may be in several rows, of which one is published at most.
CREATE TABLE coupons (
  site_id @int NOT NULL,
  coupon_id @int NOT NULL,
  code @text NOT NULL,
  code_key @text NOT NULL,
  status @text NOT NULL,
  discount_kind @text NOT NULL,
  amount @int NOT NULL,
  description @text NOT NULL,
  usage_count @int NOT NULL,
  usage_limit @int,
  usage_limit_per_user @int,
  created_us @int NOT NULL,
  modified_us @int NOT NULL,
  expires_us @int,
  trashed_status @text,
  search @text NOT NULL,
  details @text NOT NULL,
  PRIMARY KEY (site_id, coupon_id)
) @strict;
CREATE INDEX coupons_by_code ON coupons (code_key, site_id);
CREATE INDEX coupons_by_date ON coupons (status, created_us, site_id);

CREATE TABLE tax_classes (
  site_id @int NOT NULL,
  slug @text NOT NULL,
  name @text NOT NULL,
  position @int NOT NULL,
  PRIMARY KEY (site_id, slug)
) @strict;

-- rate is in percent; the standard class is the empty text.
CREATE TABLE tax_rates (
  site_id @int NOT NULL,
  rate_id @int NOT NULL,
  country @text NOT NULL,
  state @text NOT NULL,
  rate @int NOT NULL,
  name @text NOT NULL,
  priority @int NOT NULL,
  compound @int NOT NULL,
  shipping @int NOT NULL,
  position @int NOT NULL,
  class @text NOT NULL,
  code_key @text NOT NULL,
  PRIMARY KEY (site_id, rate_id)
) @strict;
CREATE INDEX tax_rates_by_class ON tax_rates (class, country, site_id);

-- Where a rate holds: kind is postcode or city. A rate without any holds everywhere in its state.
CREATE TABLE tax_rate_locations (
  site_id @int NOT NULL,
  rate_id @int NOT NULL,
  kind @text NOT NULL,
  position @int NOT NULL,
  value @text NOT NULL,
  PRIMARY KEY (site_id, rate_id, kind, position),
  FOREIGN KEY (site_id, rate_id) REFERENCES tax_rates (site_id, rate_id) ON DELETE CASCADE
) @strict;

-- Who may download which file of a product, by which order. remaining is null for no limit.
CREATE TABLE download_permissions (
  site_id @int NOT NULL,
  permission_id @int NOT NULL,
  download_id @text NOT NULL,
  product_id @int NOT NULL,
  order_id @int NOT NULL,
  order_key @text NOT NULL,
  user_email @text NOT NULL,
  user_id @int NOT NULL,
  remaining @int,
  granted_us @int NOT NULL,
  expires_us @int,
  download_count @int NOT NULL,
  PRIMARY KEY (site_id, permission_id)
) @strict;
CREATE INDEX download_permissions_by_order ON download_permissions (order_id, product_id, site_id);
CREATE INDEX download_permissions_by_user ON download_permissions (user_id, site_id);
CREATE INDEX download_permissions_by_product ON download_permissions (product_id, site_id);

CREATE TABLE download_log (
  site_id @int NOT NULL,
  log_id @int NOT NULL,
  permission_id @int NOT NULL,
  at_us @int NOT NULL,
  user_id @int,
  ip @text NOT NULL,
  PRIMARY KEY (site_id, log_id),
  FOREIGN KEY (site_id, permission_id)
    REFERENCES download_permissions (site_id, permission_id) ON DELETE CASCADE
) @strict;
CREATE INDEX download_log_by_permission ON download_log (permission_id, site_id);
CREATE INDEX download_log_by_time ON download_log (at_us, site_id);
CREATE INDEX download_log_by_ip ON download_log (ip, site_id);
