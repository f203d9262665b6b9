-- Up to which entry each chain of the audit log was found whole, and what its last full check found
-- wrong (a JSON list). Sealed like the end of a chain: a check that starts here cannot be misled by
-- who can write to the database alone.
CREATE TABLE audit_verified (
  iso_id @text NOT NULL PRIMARY KEY,
  seq @int NOT NULL,
  hash @bytes NOT NULL,
  errors @text NOT NULL,
  made_us @int NOT NULL,
  seal @bytes NOT NULL
) @strict;

-- Which change of customers that were there before touched a row last; null if none did. Who keeps
-- customers in memory reads those that were changed since, and those with greater numbers. Kept on
-- SQLite only, where writers take turns.
ALTER TABLE customer_lookup ADD COLUMN changed @int;
CREATE INDEX customer_lookup_by_change ON customer_lookup (changed, site_id)
  WHERE changed IS NOT NULL;
