-- Who a user is at a provider of OpenID Connect. Of the provider's name for them, only a keyed hash
-- with that of the provider is stored.
CREATE TABLE user_identities (
  site_id @int NOT NULL,
  identity_hash @bytes NOT NULL,
  user_id @int NOT NULL,
  linked_us @int NOT NULL,
  PRIMARY KEY (site_id, identity_hash),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
CREATE INDEX user_identities_by_user ON user_identities (site_id, user_id);
