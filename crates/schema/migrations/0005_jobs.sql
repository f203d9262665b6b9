-- Work that goes on after the answer, and what the shop's people are told of.

-- While a job is in somebody's hands, due_us is when that lease ends, and claim is the proof of it.
-- The number is a serial one, so that writers do not wait for each other. Of the jobs of a kind
-- with the same key, one at most is not finished.
CREATE TABLE background_jobs (
  job_id @serial,
  site_id @int NOT NULL,
  kind @text NOT NULL,
  job_key @text,
  state @text NOT NULL,
  arguments @text NOT NULL,
  progress_done @int NOT NULL,
  progress_total @int,
  checkpoint @text,
  result @text,
  error @text,
  cancel_wanted @int NOT NULL,
  claim @int NOT NULL,
  attempt @int NOT NULL,
  due_us @int NOT NULL,
  created_us @int NOT NULL,
  started_us @int,
  finished_us @int
) @strict;
CREATE UNIQUE INDEX background_jobs_unfinished_by_key
  ON background_jobs (kind, job_key, site_id) WHERE finished_us IS NULL;
CREATE INDEX background_jobs_due ON background_jobs (kind, due_us, job_id, site_id)
  WHERE finished_us IS NULL;
CREATE INDEX background_jobs_by_key ON background_jobs (kind, job_key, job_id, site_id);
CREATE INDEX background_jobs_finished ON background_jobs (kind, finished_us, site_id)
  WHERE finished_us IS NOT NULL;

-- What the shop's people are told of, with what they can do about it.
CREATE TABLE admin_notes (
  site_id @int NOT NULL,
  note_id @int NOT NULL,
  name @text NOT NULL,
  kind @text NOT NULL,
  locale @text NOT NULL,
  title @text NOT NULL,
  content @text NOT NULL,
  content_data @text NOT NULL,
  status @text NOT NULL,
  source @text NOT NULL,
  created_us @int NOT NULL,
  reminder_us @int,
  is_snoozable @int NOT NULL,
  layout @text NOT NULL,
  image @text NOT NULL,
  is_deleted @int NOT NULL,
  is_read @int NOT NULL,
  PRIMARY KEY (site_id, note_id)
) @strict;
CREATE INDEX admin_notes_by_name ON admin_notes (name, note_id, site_id);

CREATE TABLE admin_note_actions (
  site_id @int NOT NULL,
  note_id @int NOT NULL,
  action_id @int NOT NULL,
  name @text NOT NULL,
  label @text NOT NULL,
  query @text NOT NULL,
  status @text NOT NULL,
  actioned_text @text NOT NULL,
  nonce_action @text,
  nonce_name @text,
  PRIMARY KEY (site_id, note_id, action_id)
) @strict;
