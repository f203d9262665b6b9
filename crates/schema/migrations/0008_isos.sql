-- ISOs as accounts: how they come, and what they may use.

-- What an ISO is beside its name. One without a row is active and told nothing about itself.
-- contact_sealed holds the person to talk to, sealed with the ISO's data key. limits is a JSON object
-- of those limits that differ from the operator's. clock_ahead_us is how far the ISO's own clock is
-- ahead, in the sandbox.
CREATE TABLE iso_accounts (
  iso_id @text NOT NULL PRIMARY KEY REFERENCES isos (iso_id),
  status @text NOT NULL,
  status_reason @text,
  version @int NOT NULL,
  contact_sealed @bytes,
  limits @text NOT NULL,
  clock_ahead_us @int NOT NULL,
  updated_us @int NOT NULL
) @strict;
CREATE INDEX iso_accounts_by_clock ON iso_accounts (clock_ahead_us, iso_id)
  WHERE clock_ahead_us > 0;

-- Registrations that wait for their confirmation, one for each e-mail address. Neither the address
-- nor the token of the link is stored: by their keyed hashes they are found.
CREATE TABLE iso_registrations (
  site_id @int NOT NULL,
  email_index @bytes NOT NULL,
  token_hash @bytes NOT NULL,
  sealed @bytes NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, email_index)
) @strict;
CREATE UNIQUE INDEX iso_registrations_by_token ON iso_registrations (token_hash, site_id);
CREATE INDEX iso_registrations_by_age ON iso_registrations (expires_us, site_id);

-- What the sandbox's webhook catcher received. headers is a JSON object.
CREATE TABLE caught_webhooks (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  number @int NOT NULL,
  at_us @int NOT NULL,
  headers @text NOT NULL,
  body @text NOT NULL,
  status @int NOT NULL,
  PRIMARY KEY (iso_id, number)
) @strict;

-- Where each chain of the audit log starts since its older entries were taken off line, sealed like
-- the end of a chain: whoever cuts off more is found out.
CREATE TABLE audit_checkpoints (
  iso_id @text NOT NULL PRIMARY KEY,
  seq @int NOT NULL,
  hash @bytes NOT NULL,
  seal @bytes NOT NULL,
  made_us @int NOT NULL
) @strict;

-- Which end of each chain was told last, and when.
CREATE TABLE audit_heads_told (
  iso_id @text NOT NULL PRIMARY KEY,
  seq @int NOT NULL,
  told_us @int NOT NULL
) @strict;
