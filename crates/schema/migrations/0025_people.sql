-- People of ISOs: whom they invited, and who is theirs.

-- An invitation that waits for somebody to open its link. Neither the address nor the token of the
-- link is stored: by their keyed hashes they are found. sealed holds address and name.
CREATE TABLE iso_invitations (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  invitation_id @text NOT NULL,
  email_index @bytes NOT NULL,
  token_hash @bytes NOT NULL,
  role @text NOT NULL,
  merchant_id @text,
  store_id @text,
  sealed @bytes NOT NULL,
  invited_by @text NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (iso_id, invitation_id)
) @strict;
CREATE UNIQUE INDEX iso_invitations_by_token ON iso_invitations (token_hash, iso_id);
CREATE UNIQUE INDEX iso_invitations_by_email ON iso_invitations (email_index, iso_id);
CREATE INDEX iso_invitations_by_age ON iso_invitations (expires_us, iso_id);

CREATE INDEX users_by_iso ON users (iso_id, site_id)
  WHERE iso_id IS NOT NULL;
