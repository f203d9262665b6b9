-- Ways to sign in without a password, each for one use: a link in a letter, or a code that a phone
-- reads from the screen. token_hash finds it; session_hash is what the phone goes by meanwhile.
-- detail is JSON of what the kind needs, such as the device that asks.
CREATE TABLE login_tokens (
  site_id @int NOT NULL,
  token_hash @bytes NOT NULL,
  kind @text NOT NULL,
  state @text NOT NULL,
  user_id @int NOT NULL,
  session_hash @bytes,
  detail @text NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, token_hash),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
CREATE INDEX login_tokens_by_session ON login_tokens (session_hash, site_id);
CREATE INDEX login_tokens_by_user ON login_tokens (user_id, created_us, site_id);
CREATE INDEX login_tokens_by_expiry ON login_tokens (expires_us, site_id);
