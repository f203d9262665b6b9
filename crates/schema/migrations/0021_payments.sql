-- A payment of an order at a gateway with a payment page of its own. What the gateway reported is
-- kept as facts, so that its messages may come late, twice and in any order. Amounts are in
-- millionths.
CREATE TABLE payments (
  site_id @int NOT NULL,
  payment_id @text NOT NULL,
  order_id @int NOT NULL,
  gateway @text NOT NULL,
  currency @text NOT NULL,
  amount @int NOT NULL,
  reference @text NOT NULL,
  page_url @text NOT NULL,
  captured @int NOT NULL,
  authorised_us @int,
  declined_us @int,
  disputed_us @int,
  created_us @int NOT NULL,
  modified_us @int NOT NULL,
  PRIMARY KEY (site_id, payment_id)
) @strict;
CREATE INDEX payments_by_order ON payments (order_id, created_us, site_id);

-- Refunds of a payment, by the name that whoever asked for it gave it: the shop or the gateway.
-- `order_refund_id` is 0 until the order has a refund of it.
CREATE TABLE payment_refunds (
  site_id @int NOT NULL,
  payment_id @text NOT NULL,
  refund_key @text NOT NULL,
  order_refund_id @int NOT NULL,
  amount @int NOT NULL,
  state @text NOT NULL,
  reason @text NOT NULL,
  status_before @text NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (site_id, payment_id, refund_key)
) @strict;

-- Messages of gateways that were received, so that none counts twice.
CREATE TABLE payment_messages (
  site_id @int NOT NULL,
  gateway @text NOT NULL,
  message_id @text NOT NULL,
  payment_id @text NOT NULL,
  received_us @int NOT NULL,
  PRIMARY KEY (site_id, gateway, message_id)
) @strict;
CREATE INDEX payment_messages_by_time ON payment_messages (received_us, site_id);

-- What the sandbox's own gateway knows of the payments that it was asked for.
CREATE TABLE sandbox_payments (
  site_id @int NOT NULL,
  session_id @text NOT NULL,
  gateway @text NOT NULL,
  payment_id @text NOT NULL,
  description @text NOT NULL,
  currency @text NOT NULL,
  amount @text NOT NULL,
  callback_url @text NOT NULL,
  return_url @text NOT NULL,
  cancel_url @text NOT NULL,
  state @text NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (site_id, session_id)
) @strict;
CREATE INDEX sandbox_payments_by_payment ON sandbox_payments (payment_id, site_id);
CREATE INDEX sandbox_payments_by_time ON sandbox_payments (created_us, site_id);

-- Sale requests to terminals: an order of a merchant's store that a device is asked to take the
-- money for, or to pay back. Amounts are in millionths.
CREATE TABLE sales (
  iso_id @text NOT NULL,
  sale_id @text NOT NULL,
  merchant_id @text NOT NULL,
  store_id @text,
  tpn @text NOT NULL,
  kind @text NOT NULL,
  order_id @int NOT NULL,
  refund_of @text,
  amount @int NOT NULL,
  currency @text NOT NULL,
  status @text NOT NULL,
  status_reason @text,
  approval_code @text,
  version @int NOT NULL,
  expires_us @int NOT NULL,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, sale_id)
) @strict;
CREATE INDEX sales_by_tpn ON sales (tpn, created_us, iso_id);
CREATE INDEX sales_by_order ON sales (order_id, iso_id);

-- Addresses that want no reminders of carts, as keyed hashes.
CREATE TABLE cart_reminder_refusals (
  site_id @int NOT NULL,
  email_hash @bytes NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (site_id, email_hash)
) @strict;
