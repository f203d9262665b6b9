-- Second factors of users who sign in with a browser: a secret that their phone has, too, sealed, and
-- codes for the day on which the phone is lost, of which only keyed hashes are stored. A secret counts
-- once a code of it was shown (confirmed_us). last_step is the time step of the code used last: none
-- is good twice.
CREATE TABLE second_factors (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  sealed @bytes NOT NULL,
  confirmed_us @int,
  last_step @int NOT NULL,
  PRIMARY KEY (site_id, user_id),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;

CREATE TABLE recovery_codes (
  site_id @int NOT NULL,
  user_id @int NOT NULL,
  code_hash @bytes NOT NULL,
  PRIMARY KEY (site_id, user_id, code_hash),
  FOREIGN KEY (site_id, user_id) REFERENCES users (site_id, user_id) ON DELETE CASCADE
) @strict;
