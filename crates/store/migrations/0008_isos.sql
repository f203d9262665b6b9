-- ISOs as accounts: how they come, and what they may use.

-- What an ISO is beside its name. One without a row is active and told nothing about itself.
-- contact_sealed holds the person to talk to, sealed with the ISO's data key.
CREATE TABLE iso_accounts (
  iso_id @text NOT NULL PRIMARY KEY REFERENCES isos (iso_id),
  status @text NOT NULL,
  status_reason @text,
  version @int NOT NULL,
  contact_sealed @bytes,
  updated_us @int NOT NULL
) @strict;

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
