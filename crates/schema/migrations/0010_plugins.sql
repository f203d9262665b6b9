-- What the shop's people add to the site: plugins and themes, and what they buy at a marketplace.

-- A package that is installed. manifest, settings and made are JSON: what the package declares, what
-- people chose, and which records its activation made. Of the themes one at most is active.
CREATE TABLE packages (
  site_id @int NOT NULL,
  kind @text NOT NULL,
  slug @text NOT NULL,
  version @text NOT NULL,
  manifest @text NOT NULL,
  digest @text NOT NULL,
  signer @text,
  origin @text NOT NULL,
  is_active @int NOT NULL,
  settings @text NOT NULL,
  made @text NOT NULL,
  installed_us @int NOT NULL,
  activated_us @int,
  PRIMARY KEY (site_id, kind, slug)
) @strict;

CREATE TABLE package_files (
  site_id @int NOT NULL,
  kind @text NOT NULL,
  slug @text NOT NULL,
  path @text NOT NULL,
  content @bytes NOT NULL,
  PRIMARY KEY (site_id, kind, slug, path)
) @strict;

-- The site's account with a service elsewhere. The token is sealed.
CREATE TABLE service_connections (
  site_id @int NOT NULL,
  service @text NOT NULL,
  token_sealed @bytes NOT NULL,
  remote_site_id @int NOT NULL,
  remote_user_id @int NOT NULL,
  user_id @int NOT NULL,
  connected_us @int NOT NULL,
  PRIMARY KEY (site_id, service)
) @strict;

-- What was bought, as the marketplace told it last. details is its JSON.
CREATE TABLE marketplace_subscriptions (
  site_id @int NOT NULL,
  product_key @text NOT NULL,
  product_id @int NOT NULL,
  details @text NOT NULL,
  is_connected @int NOT NULL,
  expires_us @int,
  fetched_us @int NOT NULL,
  PRIMARY KEY (site_id, product_key)
) @strict;

-- Faults of a connection, until somebody proves to have caused one by repeating its nonce.
CREATE TABLE connection_errors (
  site_id @int NOT NULL,
  nonce @text NOT NULL,
  code @text NOT NULL,
  message @text NOT NULL,
  user_id @int NOT NULL,
  raised_us @int NOT NULL,
  verified_us @int,
  PRIMARY KEY (site_id, nonce)
) @strict;
CREATE INDEX connection_errors_by_code ON connection_errors (code, raised_us, site_id);

-- Feeds of the catalogue by their choice of fields, and the pieces of their files.
CREATE TABLE catalogue_feeds (
  site_id @int NOT NULL,
  feed_key @text NOT NULL,
  job_id @int NOT NULL,
  state @text NOT NULL,
  file_name @text NOT NULL,
  processed @int NOT NULL,
  total @int NOT NULL,
  error @text,
  scheduled_us @int NOT NULL,
  updated_us @int NOT NULL,
  ended_us @int,
  PRIMARY KEY (site_id, feed_key)
) @strict;

CREATE TABLE catalogue_feed_parts (
  site_id @int NOT NULL,
  file_name @text NOT NULL,
  part @int NOT NULL,
  content @bytes NOT NULL,
  PRIMARY KEY (site_id, file_name, part)
) @strict;
