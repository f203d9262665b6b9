-- Onboardings that came as a file. content_index tells the file apart from others of the ISO without
-- telling what is in it; job_id is the background job that works on it, and none when the command
-- line does.
CREATE TABLE bulk_uploads (
  iso_id @text NOT NULL,
  bulk_id @text NOT NULL,
  content_index @bytes NOT NULL,
  actor @text NOT NULL,
  job_id @int,
  status @text NOT NULL,
  total_rows @int NOT NULL,
  succeeded @int NOT NULL,
  failed @int NOT NULL,
  error @text,
  created_us @int NOT NULL,
  finished_us @int,
  PRIMARY KEY (iso_id, bulk_id)
) @strict;
CREATE UNIQUE INDEX bulk_uploads_by_content ON bulk_uploads (content_index, iso_id);
CREATE INDEX bulk_uploads_finished ON bulk_uploads (finished_us, iso_id)
  WHERE finished_us IS NOT NULL;

-- The rows that wait to be onboarded, some together, sealed with the ISO's key: they hold personal
-- data and credentials. They go when the upload is finished.
CREATE TABLE bulk_chunks (
  iso_id @text NOT NULL,
  bulk_id @text NOT NULL,
  first_row @int NOT NULL,
  sealed @bytes NOT NULL,
  PRIMARY KEY (iso_id, bulk_id, first_row)
) @strict;

-- What became of each row, written in the transaction of its onboarding: a row that is here as
-- onboarded is never onboarded again. errors is a JSON list, and null for a row that succeeded.
CREATE TABLE bulk_results (
  iso_id @text NOT NULL,
  bulk_id @text NOT NULL,
  row_no @int NOT NULL,
  merchant_id @text,
  store_id @text,
  tpn @text,
  errors @text,
  PRIMARY KEY (iso_id, bulk_id, row_no)
) @strict;
