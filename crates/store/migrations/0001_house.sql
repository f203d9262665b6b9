-- Everything the first published interface needs.
--
-- The tokens @int, @text, @bytes, @serial and @strict are rendered for each engine; see
-- src/migrate.rs. Times are microseconds UTC and end in _us. Booleans are 0 and 1.
--
-- Primary keys lead with the tenant, other indexes end with it: a new PostgreSQL database has no
-- statistics yet, takes any index that starts with the tenant for as good as the primary key, and
-- would check a reference by reading all rows of the tenant.

-- Numbers handed out in blocks: ids, and the outbox's sequence.
CREATE TABLE counters (
  name @text NOT NULL PRIMARY KEY,
  next @int NOT NULL
) @strict;

-- Facts about this database, such as the fingerprint of the master key.
CREATE TABLE facts (
  name @text NOT NULL PRIMARY KEY,
  value @text NOT NULL
) @strict;

CREATE TABLE isos (
  iso_id @text NOT NULL PRIMARY KEY,
  name @text NOT NULL,
  response_style @text NOT NULL,
  data_key @bytes NOT NULL,
  created_us @int NOT NULL
) @strict;

-- hash is keyed; the key itself is never stored.
CREATE TABLE api_keys (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  key_id @text NOT NULL,
  hash @bytes NOT NULL,
  name @text NOT NULL,
  scopes @text NOT NULL,
  created_us @int NOT NULL,
  expires_us @int,
  revoked_us @int,
  last_used_us @int,
  PRIMARY KEY (iso_id, key_id)
) @strict;
CREATE UNIQUE INDEX api_keys_by_key_id ON api_keys (key_id);

CREATE TABLE templates (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  template_id @text NOT NULL,
  name @text NOT NULL,
  version @int NOT NULL,
  parameters @text NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (iso_id, template_id)
) @strict;
CREATE UNIQUE INDEX templates_by_name ON templates (name, iso_id);

-- sealed holds the personal data: names, e-mail, phone and street address. The *_index columns
-- are blind indexes: keyed hashes by which equal values are found without being readable.
CREATE TABLE merchants (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  merchant_id @text NOT NULL,
  status @text NOT NULL,
  version @int NOT NULL,
  dba @text NOT NULL,
  dba_key @text NOT NULL,
  zip @text NOT NULL,
  city @text NOT NULL,
  state @text NOT NULL,
  ebt @text,
  iso_agent_reference @text,
  iso_merchant @text,
  logo_url @text,
  email_index @bytes NOT NULL,
  phone_index @bytes NOT NULL,
  sealed @bytes NOT NULL,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, merchant_id)
) @strict;
CREATE UNIQUE INDEX merchants_by_dba ON merchants (dba_key, iso_id);
CREATE INDEX merchants_by_email ON merchants (email_index, iso_id);

CREATE TABLE stores (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  store_id @text NOT NULL,
  merchant_id @text NOT NULL,
  status @text NOT NULL,
  version @int NOT NULL,
  dba @text NOT NULL,
  dba_key @text NOT NULL,
  mcc @text NOT NULL,
  zip @text NOT NULL,
  city @text NOT NULL,
  state @text NOT NULL,
  ebt @text,
  email_index @bytes NOT NULL,
  phone_index @bytes NOT NULL,
  sealed @bytes NOT NULL,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, store_id),
  FOREIGN KEY (iso_id, merchant_id) REFERENCES merchants (iso_id, merchant_id)
) @strict;
CREATE UNIQUE INDEX stores_by_dba ON stores (dba_key, iso_id);
CREATE INDEX stores_by_merchant ON stores (merchant_id, iso_id);

CREATE TABLE tpns (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  merchant_id @text NOT NULL,
  store_id @text NOT NULL,
  status @text NOT NULL,
  version @int NOT NULL,
  device_manufacturer @text NOT NULL,
  device_model @text NOT NULL,
  application_sign @text NOT NULL,
  routing_type @text NOT NULL,
  default_label @text,
  template_id @text,
  template_version @int,
  tpn_bin @text,
  processor @text NOT NULL,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, tpn),
  FOREIGN KEY (iso_id, store_id) REFERENCES stores (iso_id, store_id)
) @strict;
CREATE INDEX tpns_by_store ON tpns (store_id, iso_id);

-- identifiers is JSON of the searchable fields; sealed holds the credentials; identity_index finds
-- the same processor account on another terminal.
CREATE TABLE profiles (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  profile_id @text NOT NULL,
  processor @text NOT NULL,
  status @text NOT NULL,
  tpn_bin @text,
  identifiers @text NOT NULL,
  identity_index @bytes NOT NULL,
  sealed @bytes NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (iso_id, tpn, profile_id),
  FOREIGN KEY (iso_id, tpn) REFERENCES tpns (iso_id, tpn)
) @strict;
CREATE INDEX profiles_by_identity ON profiles (identity_index, iso_id);

-- What happened, in the same transaction as the change. seq is given afterwards, without gaps, in
-- the order in which changes became visible; see src/outbox.rs.
CREATE TABLE outbox (
  id @serial,
  seq @int,
  iso_id @text NOT NULL,
  kind @text NOT NULL,
  object_id @text NOT NULL,
  payload @text NOT NULL,
  created_us @int NOT NULL
) @strict;
CREATE UNIQUE INDEX outbox_by_seq ON outbox (seq) WHERE seq IS NOT NULL;
CREATE INDEX outbox_unsequenced ON outbox (id) WHERE seq IS NULL;

-- Answers by idempotency key, kept in the transaction of the change that they tell of.
CREATE TABLE idempotency (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  key_hash @bytes NOT NULL,
  body_hash @bytes NOT NULL,
  status @int NOT NULL,
  answer @text NOT NULL,
  headers @text NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (iso_id, key_hash)
) @strict;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_us);

CREATE TABLE users (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  login @text NOT NULL,
  email @text NOT NULL,
  password_hash @text,
  role @text NOT NULL,
  iso_id @text,
  merchant_id @text,
  store_id @text,
  created_us @int NOT NULL,
  PRIMARY KEY (site_id, user_id)
) @strict;
CREATE UNIQUE INDEX users_by_login ON users (login, site_id);
CREATE UNIQUE INDEX users_by_email ON users (email, site_id);
