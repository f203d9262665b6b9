-- Reports over many connected stores. What a store sold in a period is the difference of two running
-- totals of its days (the columns that end in _sum, the day itself included), so that a year costs no
-- more than a week.
ALTER TABLE connection_days ADD COLUMN orders_sum @int NOT NULL DEFAULT 0;
ALTER TABLE connection_days ADD COLUMN items_sum @int NOT NULL DEFAULT 0;
ALTER TABLE connection_days ADD COLUMN gross_sum @int NOT NULL DEFAULT 0;
ALTER TABLE connection_days ADD COLUMN net_sum @int NOT NULL DEFAULT 0;
ALTER TABLE connection_days ADD COLUMN refunds_sum @int NOT NULL DEFAULT 0;
UPDATE connection_days SET
  orders_sum = (SELECT SUM(o.orders) FROM connection_days o WHERE o.iso_id = connection_days.iso_id
    AND o.connection_id = connection_days.connection_id AND o.day <= connection_days.day),
  items_sum = (SELECT SUM(o.items) FROM connection_days o WHERE o.iso_id = connection_days.iso_id
    AND o.connection_id = connection_days.connection_id AND o.day <= connection_days.day),
  gross_sum = (SELECT SUM(o.gross) FROM connection_days o WHERE o.iso_id = connection_days.iso_id
    AND o.connection_id = connection_days.connection_id AND o.day <= connection_days.day),
  net_sum = (SELECT SUM(o.net) FROM connection_days o WHERE o.iso_id = connection_days.iso_id
    AND o.connection_id = connection_days.connection_id AND o.day <= connection_days.day),
  refunds_sum = (SELECT SUM(o.refunds) FROM connection_days o WHERE o.iso_id = connection_days.iso_id
    AND o.connection_id = connection_days.connection_id AND o.day <= connection_days.day);
-- All that a report by day reads.
DROP INDEX connection_days_by_day;
CREATE INDEX connection_days_by_day
  ON connection_days (iso_id, day, currency, orders, items, gross, net, refunds);

-- country: of the store, as it says itself. checks: what was found when the store was first asked, a
-- JSON list. is_held: the copy starts only when its owner says so.
ALTER TABLE connections ADD COLUMN country @text NOT NULL DEFAULT '';
ALTER TABLE connections ADD COLUMN checks @text NOT NULL DEFAULT '[]';
ALTER TABLE connections ADD COLUMN is_held @int NOT NULL DEFAULT 0;

-- Exchange rates that an ISO gave for its portfolio: a JSON list.
CREATE TABLE portfolio_rates (
  iso_id @text NOT NULL PRIMARY KEY,
  version @int NOT NULL,
  rates @text NOT NULL,
  updated_us @int NOT NULL
) @strict;

-- What is unusual about a connected store: details is a JSON object for programs. One of a kind is
-- open for a store at a time.
CREATE TABLE connection_alerts (
  iso_id @text NOT NULL,
  alert_id @text NOT NULL,
  connection_id @text NOT NULL,
  kind @text NOT NULL,
  message @text NOT NULL,
  details @text NOT NULL,
  raised_us @int NOT NULL,
  ended_us @int,
  PRIMARY KEY (iso_id, alert_id)
) @strict;
CREATE INDEX connection_alerts_by_raised ON connection_alerts (iso_id, raised_us, alert_id);
CREATE INDEX connection_alerts_open_by_raised
  ON connection_alerts (iso_id, raised_us, alert_id) WHERE ended_us IS NULL;
CREATE INDEX connection_alerts_of_store
  ON connection_alerts (connection_id, iso_id, raised_us, alert_id);
CREATE UNIQUE INDEX connection_alerts_open
  ON connection_alerts (connection_id, kind, iso_id) WHERE ended_us IS NULL;
