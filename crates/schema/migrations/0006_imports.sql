-- Numbers that records had where they came from, when they could not keep them here. source names
-- that place, kind the sort of record.
CREATE TABLE import_ids (
  site_id @int NOT NULL,
  source @text NOT NULL,
  kind @text NOT NULL,
  foreign_id @int NOT NULL,
  own_id @int NOT NULL,
  PRIMARY KEY (site_id, source, kind, foreign_id)
) @strict;

-- How far an import has come, written in the transaction of what it tells of. name is what the
-- import is known by, such as the digest of its file; done counts in units of its own.
CREATE TABLE import_progress (
  site_id @int NOT NULL,
  name @text NOT NULL,
  done @int NOT NULL,
  details @text NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (site_id, name)
) @strict;
