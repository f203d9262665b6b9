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

-- rate is in percent, null if it was never given; the standard class is the empty text.
CREATE TABLE tax_rates (
  site_id @int NOT NULL,
  rate_id @int NOT NULL,
  country @text NOT NULL,
  state @text NOT NULL,
  rate @int,
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

-- Orders and the refunds of orders, in the numbers of posts. parent_id is the order of a refund, or
-- 0; customer_id is a user, or 0 for a guest; merchant_id, store_id and tpn name what was onboarded.
-- search is folded. details, a JSON object, has what nobody asks the database for, and is last, so
-- that a search need not read past it. The indexes serve lists by date, by status, of what changed
-- lately, and of one customer, order, merchant, store or terminal; a partial one costs nothing for
-- orders that it does not hold.
CREATE TABLE orders (
  site_id @int NOT NULL,
  order_id @int NOT NULL,
  kind @text NOT NULL,
  parent_id @int NOT NULL,
  status @text NOT NULL,
  currency @text NOT NULL,
  customer_id @int NOT NULL,
  billing_email @text NOT NULL,
  number @text NOT NULL,
  order_key @text NOT NULL,
  payment_method @text NOT NULL,
  created_via @text NOT NULL,
  total @int NOT NULL,
  total_tax @int NOT NULL,
  cart_tax @int NOT NULL,
  shipping_total @int NOT NULL,
  shipping_tax @int NOT NULL,
  discount_total @int NOT NULL,
  discount_tax @int NOT NULL,
  prices_include_tax @int NOT NULL,
  created_us @int NOT NULL,
  modified_us @int NOT NULL,
  paid_us @int,
  completed_us @int,
  trashed_status @text,
  merchant_id @text,
  store_id @text,
  tpn @text,
  refund_amount @int NOT NULL,
  refunded_by @int NOT NULL,
  reason @text NOT NULL,
  search @text NOT NULL,
  details @text NOT NULL,
  PRIMARY KEY (site_id, order_id)
) @strict;
CREATE INDEX orders_by_date ON orders (kind, created_us, order_id, site_id);
CREATE INDEX orders_by_status ON orders (kind, status, created_us, order_id, site_id);
CREATE INDEX orders_by_change ON orders (kind, modified_us, order_id, site_id);
CREATE INDEX orders_by_customer ON orders (customer_id, kind, created_us, order_id, site_id)
  WHERE customer_id <> 0;
CREATE INDEX orders_by_parent ON orders (parent_id, kind, created_us, order_id, site_id)
  WHERE parent_id <> 0;
CREATE INDEX orders_by_merchant ON orders (merchant_id, kind, created_us, order_id, site_id)
  WHERE merchant_id IS NOT NULL;
CREATE INDEX orders_by_store ON orders (store_id, kind, created_us, order_id, site_id)
  WHERE store_id IS NOT NULL;
CREATE INDEX orders_by_tpn ON orders (tpn, kind, created_us, order_id, site_id)
  WHERE tpn IS NOT NULL;

-- Lines of orders and refunds. Written by one module only, together with their order; a reference
-- to it would make an import look up every order once more for each of its lines.
CREATE TABLE order_items (
  site_id @int NOT NULL,
  order_id @int NOT NULL,
  item_id @int NOT NULL,
  position @int NOT NULL,
  kind @text NOT NULL,
  name @text NOT NULL,
  product_id @int NOT NULL,
  variation_id @int NOT NULL,
  quantity @int NOT NULL,
  subtotal @int NOT NULL,
  subtotal_tax @int NOT NULL,
  total @int NOT NULL,
  total_tax @int NOT NULL,
  rate_id @int NOT NULL,
  details @text NOT NULL,
  PRIMARY KEY (site_id, order_id, item_id)
) @strict;
CREATE INDEX order_items_by_product ON order_items (product_id, order_id, site_id)
  WHERE product_id <> 0;
CREATE INDEX order_items_by_variation ON order_items (variation_id, order_id, site_id)
  WHERE variation_id <> 0;

CREATE TABLE order_notes (
  site_id @int NOT NULL,
  note_id @int NOT NULL,
  order_id @int NOT NULL,
  author @text NOT NULL,
  text @text NOT NULL,
  customer_note @int NOT NULL,
  added_by_user @int NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (site_id, note_id),
  FOREIGN KEY (site_id, order_id) REFERENCES orders (site_id, order_id) ON DELETE CASCADE
) @strict;
CREATE INDEX order_notes_by_order ON order_notes (order_id, created_us, note_id, site_id);

-- What a user has as a customer; billing, shipping and meta are JSON objects.
CREATE TABLE customers (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  billing @text NOT NULL,
  shipping @text NOT NULL,
  is_paying @int NOT NULL,
  last_active_us @int,
  meta @text NOT NULL,
  PRIMARY KEY (site_id, user_id),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;

-- Customers as reports count them: users and guests in one row of numbers. A guest is known by the
-- folded e-mail address, a user by user_id, which may name a user who is gone.
CREATE TABLE customer_lookup (
  site_id @int NOT NULL,
  customer_id @int NOT NULL,
  user_id @int,
  username @text NOT NULL,
  username_key @text NOT NULL,
  first_name @text NOT NULL,
  last_name @text NOT NULL,
  name_key @text NOT NULL,
  email @text NOT NULL,
  email_key @text NOT NULL,
  last_active_us @int,
  registered_us @int,
  country @text NOT NULL,
  postcode @text NOT NULL,
  city @text NOT NULL,
  state @text NOT NULL,
  PRIMARY KEY (site_id, customer_id)
) @strict;
CREATE UNIQUE INDEX customer_lookup_by_user ON customer_lookup (user_id, site_id)
  WHERE user_id IS NOT NULL;
CREATE INDEX customer_lookup_by_email ON customer_lookup (email_key, site_id);
CREATE UNIQUE INDEX customer_lookup_by_guest ON customer_lookup (email_key, site_id)
  WHERE user_id IS NULL;

CREATE TABLE shipping_zones (
  site_id @int NOT NULL,
  zone_id @int NOT NULL,
  name @text NOT NULL,
  position @int NOT NULL,
  PRIMARY KEY (site_id, zone_id)
) @strict;

CREATE TABLE shipping_zone_locations (
  site_id @int NOT NULL,
  zone_id @int NOT NULL,
  position @int NOT NULL,
  kind @text NOT NULL,
  code @text NOT NULL,
  PRIMARY KEY (site_id, zone_id, position),
  FOREIGN KEY (site_id, zone_id) REFERENCES shipping_zones (site_id, zone_id) ON DELETE CASCADE
) @strict;

-- zone_id is 0 for the rest of the world, which is no row of shipping_zones. settings is JSON.
CREATE TABLE shipping_zone_methods (
  site_id @int NOT NULL,
  instance_id @int NOT NULL,
  zone_id @int NOT NULL,
  method_id @text NOT NULL,
  position @int NOT NULL,
  enabled @int NOT NULL,
  settings @text NOT NULL,
  PRIMARY KEY (site_id, instance_id)
) @strict;
CREATE INDEX shipping_zone_methods_by_zone ON shipping_zone_methods (zone_id, position, site_id);

-- secret_sealed signs deliveries, so it is sealed, not hashed. user_id may name a user who is gone.
CREATE TABLE webhooks (
  site_id @int NOT NULL,
  webhook_id @int NOT NULL,
  name @text NOT NULL,
  name_key @text NOT NULL,
  status @text NOT NULL,
  topic @text NOT NULL,
  delivery_url @text NOT NULL,
  secret_sealed @bytes NOT NULL,
  user_id @int NOT NULL,
  api_version @text NOT NULL,
  created_us @int NOT NULL,
  modified_us @int NOT NULL,
  failure_count @int NOT NULL,
  pending @int NOT NULL,
  PRIMARY KEY (site_id, webhook_id)
) @strict;
CREATE INDEX webhooks_by_topic ON webhooks (status, topic, site_id);

-- Who gets deliveries: every endpoint that ever had one, so that what is due for each is found
-- without reading what is due for the others.
CREATE TABLE delivery_endpoints (
  site_id @int NOT NULL,
  endpoint_kind @text NOT NULL,
  endpoint_id @text NOT NULL,
  PRIMARY KEY (site_id, endpoint_kind, endpoint_id)
) @strict;

-- What is to be sent, and what came of it. While a delivery is in somebody's hands, due_us is when
-- that lease ends. Those of one lane of an endpoint are sent in order: all that wait but the first
-- are held. message_id is what the sender calls it, and may be empty. The number is a serial one, so that writers do not wait for each other, and the
-- endpoint is no reference, so that one that goes away does not refuse the change that is told of.
CREATE TABLE webhook_deliveries (
  delivery_id @serial,
  site_id @int NOT NULL,
  endpoint_kind @text NOT NULL,
  endpoint_id @text NOT NULL,
  lane @text NOT NULL,
  message_id @text NOT NULL,
  topic @text NOT NULL,
  body @bytes NOT NULL,
  details @text NOT NULL,
  state @text NOT NULL,
  held @int NOT NULL,
  leased @int NOT NULL,
  attempt @int NOT NULL,
  due_us @int NOT NULL,
  created_us @int NOT NULL,
  finished_us @int,
  last_status @int,
  last_body @text NOT NULL,
  last_duration_us @int
) @strict;
CREATE INDEX webhook_deliveries_due
  ON webhook_deliveries (endpoint_kind, endpoint_id, due_us, delivery_id, site_id)
  WHERE state = 'waiting' AND held = 0;
CREATE INDEX webhook_deliveries_lanes
  ON webhook_deliveries (endpoint_kind, endpoint_id, lane, delivery_id, site_id)
  WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_messages
  ON webhook_deliveries (message_id, endpoint_kind, endpoint_id, site_id)
  WHERE message_id <> '';
CREATE INDEX webhook_deliveries_by_endpoint
  ON webhook_deliveries (endpoint_kind, endpoint_id, created_us, delivery_id, site_id);
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_us, site_id)
  WHERE finished_us IS NOT NULL;
