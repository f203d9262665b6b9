-- Stores elsewhere whose records are copied here and kept up to date, each into a database of its
-- own. key_sealed holds the key by which the store is asked, once its owner has granted one;
-- access_sealed the key by which its reports are read here, and the secret of its webhooks. cursor
-- says how far the copy is, counts what it holds (both JSON objects). due_us: when somebody has to
-- look at it next; lease: who does at the moment.
CREATE TABLE connections (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  connection_id @text NOT NULL,
  merchant_id @text,
  store_id @text,
  url @text NOT NULL,
  name @text NOT NULL,
  status @text NOT NULL,
  version @int NOT NULL,
  key_sealed @bytes,
  access_sealed @bytes NOT NULL,
  cursor @text NOT NULL,
  counts @text NOT NULL,
  error_code @text NOT NULL,
  error_message @text NOT NULL,
  failures @int NOT NULL,
  drift @int NOT NULL,
  last_event_us @int,
  last_success_us @int,
  reconciled_us @int,
  due_us @int,
  lease @text NOT NULL,
  lease_until_us @int,
  created_us @int NOT NULL,
  updated_us @int NOT NULL,
  PRIMARY KEY (iso_id, connection_id)
) @strict;
CREATE INDEX connections_by_created ON connections (iso_id, created_us, connection_id);
CREATE INDEX connections_by_due ON connections (due_us, iso_id) WHERE due_us IS NOT NULL;
CREATE UNIQUE INDEX connections_by_id ON connections (connection_id, iso_id);

-- What webhooks of connected stores told of, until it was looked at.
CREATE TABLE connection_hints (
  iso_id @text NOT NULL,
  connection_id @text NOT NULL,
  resource @text NOT NULL,
  object_id @int NOT NULL,
  received_us @int NOT NULL,
  PRIMARY KEY (iso_id, connection_id, resource, object_id)
) @strict;

-- What connected stores sold, by day of the store and currency, in hundredths of a cent: reports
-- over many stores are answered from here without opening any of them.
CREATE TABLE connection_days (
  iso_id @text NOT NULL,
  connection_id @text NOT NULL,
  day @text NOT NULL,
  currency @text NOT NULL,
  orders @int NOT NULL,
  items @int NOT NULL,
  gross @int NOT NULL,
  net @int NOT NULL,
  refunds @int NOT NULL,
  PRIMARY KEY (iso_id, connection_id, day, currency)
) @strict;
CREATE INDEX connection_days_by_day ON connection_days (iso_id, day, currency);
