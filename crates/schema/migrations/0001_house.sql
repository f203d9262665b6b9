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

-- hash is keyed; the key itself is never stored. allowed_ips has networks with blanks between; empty
-- is all. warned_days is how many days before its end the ISO was told of that last.
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
  last_ip @text,
  allowed_ips @text NOT NULL,
  created_by @text NOT NULL,
  warned_days @int,
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
  updated_us @int NOT NULL,
  retired_us @int,
  PRIMARY KEY (iso_id, template_id)
) @strict;
CREATE UNIQUE INDEX templates_by_name ON templates (name, iso_id);

-- sealed holds the personal data: names, e-mail, phone and street address. The *_index columns
-- are blind indexes: keyed hashes by which equal values are found without being readable.
-- requirements is a JSON list of fields that were asked for, metadata a JSON object.
CREATE TABLE merchants (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  merchant_id @text NOT NULL,
  status @text NOT NULL,
  status_reason @text,
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
  external_reference @text,
  metadata @text,
  requirements @text,
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
  status_reason @text,
  version @int NOT NULL,
  dba @text NOT NULL,
  dba_key @text NOT NULL,
  mcc @text NOT NULL,
  zip @text NOT NULL,
  city @text NOT NULL,
  state @text NOT NULL,
  ebt @text,
  external_reference @text,
  metadata @text,
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

-- Without a store_id it waits in its merchant's pool. parameters is a JSON object of those that the
-- TPN has for itself.
CREATE TABLE tpns (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  merchant_id @text NOT NULL,
  store_id @text,
  status @text NOT NULL,
  status_reason @text,
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
  parameters @text,
  external_reference @text,
  metadata @text,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, tpn),
  FOREIGN KEY (iso_id, store_id) REFERENCES stores (iso_id, store_id)
) @strict;
CREATE INDEX tpns_by_store ON tpns (store_id, iso_id);

-- identifiers is JSON of the fields that may be shown, of which mid can be searched; sealed holds the credentials; identity_index finds
-- the same processor account on another terminal.
CREATE TABLE profiles (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  profile_id @text NOT NULL,
  processor @text NOT NULL,
  status @text NOT NULL,
  tpn_bin @text,
  mid @text,
  identifiers @text NOT NULL,
  identity_index @bytes NOT NULL,
  sealed @bytes NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (iso_id, tpn, profile_id),
  FOREIGN KEY (iso_id, tpn) REFERENCES tpns (iso_id, tpn)
) @strict;
CREATE INDEX profiles_by_identity ON profiles (identity_index, iso_id);

-- What happened, in the same transaction as the change. seq is given afterwards, without gaps, in
-- the order in which changes became visible; see src/outbox.rs. What happened to the site itself has
-- no iso_id. iso_seq numbers the events of one ISO, without gaps, too.
CREATE TABLE outbox (
  id @serial,
  seq @int,
  iso_id @text,
  iso_seq @int,
  kind @text NOT NULL,
  object_id @text NOT NULL,
  payload @text NOT NULL,
  created_us @int NOT NULL
) @strict;
CREATE UNIQUE INDEX outbox_by_seq ON outbox (seq) WHERE seq IS NOT NULL;
CREATE INDEX outbox_unsequenced ON outbox (id) WHERE seq IS NULL;
-- Nothing refers to this table, so that an index may start with the tenant; pages are read by it.
CREATE UNIQUE INDEX outbox_by_iso ON outbox (iso_id, iso_seq) WHERE iso_seq IS NOT NULL;

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

-- The columns that end in _key are folded copies: by them texts are found and sorted without regard
-- to case, and alike on both engines. roles has names with a blank before, between and behind, so
-- that a role is found as a whole word. meta is a JSON object.
CREATE TABLE users (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  login @text NOT NULL,
  login_key @text NOT NULL,
  email @text NOT NULL,
  email_key @text NOT NULL,
  password_hash @text,
  roles @text NOT NULL,
  display_name @text NOT NULL,
  display_name_key @text NOT NULL,
  nicename @text NOT NULL,
  first_name @text NOT NULL,
  last_name @text NOT NULL,
  nickname @text NOT NULL,
  description @text NOT NULL,
  url @text NOT NULL,
  url_key @text NOT NULL,
  locale @text NOT NULL,
  registered_us @int NOT NULL,
  meta @text NOT NULL,
  iso_id @text,
  merchant_id @text,
  store_id @text,
  PRIMARY KEY (site_id, user_id)
) @strict;
CREATE UNIQUE INDEX users_by_login ON users (login_key, site_id);
CREATE UNIQUE INDEX users_by_email ON users (email_key, site_id);
CREATE UNIQUE INDEX users_by_nicename ON users (nicename, site_id);
CREATE INDEX users_by_display_name ON users (display_name_key, site_id);

-- Passwords that a user gives to one application each; hash is keyed or salted.
CREATE TABLE application_passwords (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  uuid @text NOT NULL,
  app_id @text NOT NULL,
  name @text NOT NULL,
  hash @bytes NOT NULL,
  created_us @int NOT NULL,
  last_used_us @int,
  last_ip @text,
  PRIMARY KEY (site_id, user_id, uuid),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;

-- key_hash is of the public half; the secret half signs requests, so it is sealed, not hashed.
CREATE TABLE consumer_keys (
  site_id @int NOT NULL,
  key_id @int NOT NULL,
  user_id @int NOT NULL,
  description @text NOT NULL,
  permissions @text NOT NULL,
  key_hash @bytes NOT NULL,
  secret_sealed @bytes NOT NULL,
  truncated_key @text NOT NULL,
  created_us @int NOT NULL,
  last_access_us @int,
  PRIMARY KEY (site_id, key_id),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
CREATE UNIQUE INDEX consumer_keys_by_hash ON consumer_keys (key_hash, site_id);
CREATE INDEX consumer_keys_by_user ON consumer_keys (user_id, site_id);

-- What signed requests used up. timestamp_s is what the caller signed, in seconds.
CREATE TABLE oauth_nonces (
  site_id @int NOT NULL,
  key_id @int NOT NULL,
  nonce @text NOT NULL,
  timestamp_s @int NOT NULL,
  PRIMARY KEY (site_id, key_id, nonce),
  FOREIGN KEY (site_id, key_id) REFERENCES consumer_keys (site_id, key_id) ON DELETE CASCADE
) @strict;
CREATE INDEX oauth_nonces_by_timestamp ON oauth_nonces (timestamp_s, site_id);

-- Who is signed in; the token itself is never stored.
CREATE TABLE sessions (
  site_id @int NOT NULL,
  token_hash @bytes NOT NULL,
  user_id @int NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  ip @text NOT NULL,
  user_agent @text NOT NULL,
  PRIMARY KEY (site_id, token_hash),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
CREATE INDEX sessions_by_user ON sessions (user_id, site_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_us, site_id);

-- The site's settings; value is JSON.
CREATE TABLE options (
  site_id @int NOT NULL,
  name @text NOT NULL,
  value @text NOT NULL,
  PRIMARY KEY (site_id, name)
) @strict;

-- Posts and pages. date_us and modified_us are the site's local time written as if it were UTC; a
-- draft without a date of its own has no date_gmt_us. author_id and parent_id may name what is gone.
CREATE TABLE posts (
  site_id @int NOT NULL,
  post_id @int NOT NULL,
  kind @text NOT NULL,
  status @text NOT NULL,
  slug @text NOT NULL,
  title @text NOT NULL,
  title_key @text NOT NULL,
  content @text NOT NULL,
  content_key @text NOT NULL,
  excerpt @text NOT NULL,
  excerpt_key @text NOT NULL,
  author_id @int NOT NULL,
  parent_id @int NOT NULL,
  menu_order @int NOT NULL,
  comment_status @text NOT NULL,
  ping_status @text NOT NULL,
  template @text NOT NULL,
  format @text NOT NULL,
  sticky @int NOT NULL,
  password @text NOT NULL,
  featured_media @int NOT NULL,
  date_us @int NOT NULL,
  date_gmt_us @int,
  modified_us @int NOT NULL,
  modified_gmt_us @int NOT NULL,
  trashed_status @text,
  trashed_us @int,
  meta @text NOT NULL,
  PRIMARY KEY (site_id, post_id)
) @strict;
CREATE INDEX posts_by_slug ON posts (slug, kind, site_id);
CREATE INDEX posts_by_date ON posts (kind, status, date_us, site_id);
CREATE INDEX posts_by_author ON posts (author_id, kind, status, site_id);
CREATE INDEX posts_by_parent ON posts (parent_id, site_id);

-- Earlier texts of posts; revision_id is of the numbers of posts.
CREATE TABLE revisions (
  site_id @int NOT NULL,
  revision_id @int NOT NULL,
  post_id @int NOT NULL,
  author_id @int NOT NULL,
  title @text NOT NULL,
  content @text NOT NULL,
  excerpt @text NOT NULL,
  date_us @int NOT NULL,
  date_gmt_us @int NOT NULL,
  PRIMARY KEY (site_id, revision_id),
  FOREIGN KEY (site_id, post_id) REFERENCES posts (site_id, post_id) ON DELETE CASCADE
) @strict;
CREATE INDEX revisions_by_post ON revisions (post_id, revision_id, site_id);

-- details is a JSON object.
CREATE TABLE terms (
  site_id @int NOT NULL,
  term_id @int NOT NULL,
  taxonomy @text NOT NULL,
  name @text NOT NULL,
  name_key @text NOT NULL,
  slug @text NOT NULL,
  description @text NOT NULL,
  parent_id @int NOT NULL,
  menu_order @int NOT NULL,
  details @text NOT NULL,
  PRIMARY KEY (site_id, term_id)
) @strict;
CREATE UNIQUE INDEX terms_by_slug ON terms (slug, taxonomy, site_id);
CREATE INDEX terms_by_name ON terms (taxonomy, name_key, site_id);
CREATE INDEX terms_by_parent ON terms (parent_id, site_id);

-- Which terms an object bears. Objects of other tables share the numbers of posts, so that post_id
-- refers to no table.
CREATE TABLE post_terms (
  site_id @int NOT NULL,
  post_id @int NOT NULL,
  term_id @int NOT NULL,
  PRIMARY KEY (site_id, post_id, term_id),
  FOREIGN KEY (site_id, term_id) REFERENCES terms (site_id, term_id) ON DELETE CASCADE
) @strict;
CREATE INDEX post_terms_by_term ON post_terms (term_id, site_id);

-- Answers of other sites about what may be embedded.
CREATE TABLE oembed_cache (
  site_id @int NOT NULL,
  key_hash @bytes NOT NULL,
  value @text NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, key_hash)
) @strict;
CREATE INDEX oembed_cache_by_expiry ON oembed_cache (expires_us, site_id);
