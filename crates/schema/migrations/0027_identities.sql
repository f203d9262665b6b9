-- Who a user is at a provider of OpenID Connect. Of the provider and of its name for them, only keyed
-- hashes are stored. A user has one identity at a provider: who gets the address of another later is
-- somebody else.
CREATE TABLE user_identities (
  site_id @int NOT NULL,
  identity_hash @bytes NOT NULL,
  issuer_hash @bytes NOT NULL,
  user_id @int NOT NULL,
  linked_us @int NOT NULL,
  PRIMARY KEY (site_id, identity_hash),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
CREATE UNIQUE INDEX user_identities_by_user ON user_identities (site_id, user_id, issuer_hash);
