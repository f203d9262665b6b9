-- What several nodes on one database share. Of these tables things are remembered, so that whoever
-- writes to one tells the other nodes:
-- announced: users, application_passwords, isos, iso_accounts, api_keys, event_heads

-- Rate limits: when the bucket of a name is full again, in nanoseconds since 1970. Only nodes on
-- PostgreSQL use it.
CREATE TABLE rate_buckets (
  name @text NOT NULL PRIMARY KEY,
  full_ns @int NOT NULL
) @strict;
