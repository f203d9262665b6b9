-- Forms that ISOs send to merchants: a link, and what the merchant has entered so far. Neither the
-- address nor the token of the link is stored: the token is found by its keyed hash. sealed holds
-- the address, the name, and what was entered.
CREATE TABLE onboarding_links (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  link_id @text NOT NULL,
  token_hash @bytes NOT NULL,
  status @text NOT NULL,
  version @int NOT NULL,
  sealed @bytes NOT NULL,
  created_by @text NOT NULL,
  merchant_id @text,
  store_id @text,
  tpn @text,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  expires_us @int NOT NULL,
  submitted_us @int,
  PRIMARY KEY (iso_id, link_id)
) @strict;
CREATE UNIQUE INDEX onboarding_links_by_token ON onboarding_links (token_hash, iso_id);
CREATE INDEX onboarding_links_by_created ON onboarding_links (iso_id, created_us, link_id);
CREATE INDEX onboarding_links_by_status ON onboarding_links (status, updated_us, iso_id);
