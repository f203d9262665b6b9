-- E-mails that plugins had sent: to whom, as a keyed hash, and about which record.
CREATE TABLE plugin_emails (
  site_id @int NOT NULL,
  plugin @text NOT NULL,
  name @text NOT NULL,
  object_id @int NOT NULL,
  recipient_hash @bytes NOT NULL,
  sent_us @int NOT NULL,
  PRIMARY KEY (site_id, plugin, name, object_id)
) @strict;
CREATE INDEX plugin_emails_by_recipient ON plugin_emails (recipient_hash, plugin, sent_us, site_id);
