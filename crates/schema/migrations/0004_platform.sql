-- What an ISO asks of the platform after the first call: who did what, and who is told of it.

-- Who did what. Rows are appended in the transaction of the change, without a number; seq, prev_hash
-- and hash are given afterwards, one chain per ISO without gaps; see src/audit.rs. What belongs to
-- no ISO, such as a key that nobody knows, has an empty iso_id. related has the ids of other
-- objects that the change made, with a blank before, between and behind. changes is a JSON object.
CREATE TABLE audit (
  id @serial,
  iso_id @text NOT NULL,
  seq @int,
  at_us @int NOT NULL,
  actor @text NOT NULL,
  address @text,
  request_id @text,
  action @text NOT NULL,
  object @text NOT NULL,
  object_id @text NOT NULL,
  related @text NOT NULL,
  version_before @int,
  version_after @int,
  changes @text NOT NULL,
  result @text NOT NULL,
  reason @text NOT NULL,
  prev_hash @bytes,
  hash @bytes
) @strict;
-- Nothing refers to this table, so that an index may start with the tenant; pages are read by it.
CREATE UNIQUE INDEX audit_by_seq ON audit (iso_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_unchained ON audit (id) WHERE seq IS NULL;
CREATE INDEX audit_by_object ON audit (object_id, iso_id);

-- The end of each chain, sealed with a key that the database does not have: rows that are cut off
-- at the end are missed, too.
CREATE TABLE audit_heads (
  iso_id @text NOT NULL PRIMARY KEY,
  seq @int NOT NULL,
  hash @bytes NOT NULL,
  seal @bytes NOT NULL
) @strict;

-- The number of each ISO's last event.
CREATE TABLE event_heads (
  iso_id @text NOT NULL PRIMARY KEY,
  last_seq @int NOT NULL
) @strict;

-- Who wants to be told of an ISO's events. events is a JSON list of kinds; headers_sealed and the
-- secrets are sealed with the ISO's data key. After a rotation both secrets sign, until the old one
-- ends.
CREATE TABLE webhook_endpoints (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  webhook_id @text NOT NULL,
  url @text NOT NULL,
  description @text NOT NULL,
  events @text NOT NULL,
  headers_sealed @bytes NOT NULL,
  secret_sealed @bytes NOT NULL,
  old_secret_sealed @bytes,
  old_secret_until_us @int,
  status @text NOT NULL,
  disabled_reason @text NOT NULL,
  version @int NOT NULL,
  failing_since_us @int,
  last_success_us @int,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, webhook_id)
) @strict;

-- Each attempt at a delivery, and what came of it.
CREATE TABLE delivery_attempts (
  delivery_id @int NOT NULL REFERENCES webhook_deliveries (delivery_id) ON DELETE CASCADE,
  attempt @int NOT NULL,
  at_us @int NOT NULL,
  status @int,
  body @text NOT NULL,
  duration_us @int,
  PRIMARY KEY (delivery_id, attempt)
) @strict;

-- What callers asked and what they were told, redacted, for a few days.
CREATE TABLE request_log (
  iso_id @text NOT NULL,
  request_id @text NOT NULL,
  at_us @int NOT NULL,
  actor @text NOT NULL,
  address @text,
  method @text NOT NULL,
  path @text NOT NULL,
  status @int NOT NULL,
  duration_us @int NOT NULL,
  request @text NOT NULL,
  response @text NOT NULL,
  PRIMARY KEY (iso_id, request_id)
) @strict;
CREATE INDEX request_log_by_age ON request_log (at_us, iso_id);
