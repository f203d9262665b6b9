-- Files that reports were written into, in parts, until they expire.
CREATE TABLE report_files (
  site_id @int NOT NULL,
  export_id @text NOT NULL,
  part @int NOT NULL,
  content @bytes NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (site_id, export_id, part)
) @strict;
CREATE INDEX report_files_expiring ON report_files (expires_us, site_id);
