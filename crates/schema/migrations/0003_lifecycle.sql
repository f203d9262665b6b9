-- What happens to merchants, stores and TPNs after the first call.

CREATE INDEX merchants_by_created ON merchants (created_us, merchant_id, iso_id);
CREATE INDEX merchants_by_phone ON merchants (phone_index, iso_id);
CREATE INDEX merchants_by_zip ON merchants (zip, iso_id);
CREATE INDEX merchants_by_agent ON merchants (iso_agent_reference, iso_id)
  WHERE iso_agent_reference IS NOT NULL;
CREATE INDEX merchants_by_iso_merchant ON merchants (iso_merchant, iso_id)
  WHERE iso_merchant IS NOT NULL;
CREATE INDEX merchants_by_reference ON merchants (external_reference, iso_id)
  WHERE external_reference IS NOT NULL;
CREATE INDEX stores_by_created ON stores (created_us, store_id, iso_id);
CREATE INDEX stores_by_reference ON stores (external_reference, iso_id)
  WHERE external_reference IS NOT NULL;
CREATE INDEX tpns_by_created ON tpns (created_us, tpn, iso_id);
CREATE INDEX tpns_by_merchant ON tpns (merchant_id, iso_id);
CREATE INDEX tpns_by_reference ON tpns (external_reference, iso_id)
  WHERE external_reference IS NOT NULL;
CREATE INDEX profiles_by_mid ON profiles (mid, iso_id) WHERE mid IS NOT NULL;

-- What an object was before each of its changes, written with the change. record is the row as JSON,
-- its sealed part still sealed; credentials are not in it. The newest version is the row itself.
CREATE TABLE object_versions (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  object @text NOT NULL,
  object_id @text NOT NULL,
  version @int NOT NULL,
  from_us @int NOT NULL,
  record @text NOT NULL,
  PRIMARY KEY (iso_id, object, object_id, version)
) @strict;

-- Every version that a template ever had: a TPN keeps the one that it was given.
CREATE TABLE template_versions (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  template_id @text NOT NULL,
  version @int NOT NULL,
  parameters @text NOT NULL,
  created_us @int NOT NULL,
  PRIMARY KEY (iso_id, template_id, version),
  FOREIGN KEY (iso_id, template_id) REFERENCES templates (iso_id, template_id)
) @strict;

-- The terminal parameters that an ISO sets for all its TPNs.
CREATE TABLE iso_defaults (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  version @int NOT NULL,
  parameters @text NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id)
) @strict;

-- One-time codes by which a device takes its place; the code itself is never stored.
CREATE TABLE pairing_codes (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  code_hash @bytes NOT NULL,
  created_us @int NOT NULL,
  expires_us @int NOT NULL,
  PRIMARY KEY (iso_id, tpn),
  FOREIGN KEY (iso_id, tpn) REFERENCES tpns (iso_id, tpn)
) @strict;
CREATE UNIQUE INDEX pairing_codes_by_hash ON pairing_codes (code_hash);

-- The device on a TPN; the token itself is never stored. parameters is what it was last given, a
-- JSON object, and parameters_tag names that.
CREATE TABLE devices (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  tpn @text NOT NULL,
  device_id @text NOT NULL,
  token_hash @bytes NOT NULL,
  serial_number @text NOT NULL,
  bound_us @int NOT NULL,
  last_seen_us @int,
  parameters_tag @text,
  parameters @text,
  PRIMARY KEY (iso_id, tpn),
  FOREIGN KEY (iso_id, tpn) REFERENCES tpns (iso_id, tpn)
) @strict;
CREATE UNIQUE INDEX devices_by_token ON devices (token_hash);

-- What is to happen to an object at a time to come. kind says what.
CREATE TABLE due_work (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  kind @text NOT NULL,
  object_id @text NOT NULL,
  due_us @int NOT NULL,
  PRIMARY KEY (iso_id, kind, object_id)
) @strict;
CREATE INDEX due_work_by_time ON due_work (due_us, iso_id);
