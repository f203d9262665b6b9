-- Versions of templates on their way to terminals. A TPN is given the version at once; its device has
-- it once it has asked for its parameters. stop_reason is what the one who stopped it said.
CREATE TABLE template_rollouts (
  iso_id @text NOT NULL REFERENCES isos (iso_id),
  rollout_id @text NOT NULL,
  template_id @text NOT NULL,
  version @int NOT NULL,
  created_by @text NOT NULL,
  created_us @int NOT NULL,
  stopped_us @int,
  stop_reason @text,
  PRIMARY KEY (iso_id, rollout_id),
  FOREIGN KEY (iso_id, template_id) REFERENCES templates (iso_id, template_id)
) @strict;
CREATE INDEX template_rollouts_by_template ON template_rollouts (template_id, created_us, iso_id);

-- state is pending, downloaded, stopped or replaced; previous_version is what the TPN goes back to when
-- the roll-out is stopped. A TPN is pending in one roll-out at most.
CREATE TABLE rollout_tpns (
  iso_id @text NOT NULL,
  rollout_id @text NOT NULL,
  tpn @text NOT NULL,
  state @text NOT NULL,
  previous_version @int NOT NULL,
  changed_us @int NOT NULL,
  PRIMARY KEY (iso_id, rollout_id, tpn),
  FOREIGN KEY (iso_id, rollout_id) REFERENCES template_rollouts (iso_id, rollout_id) ON DELETE CASCADE
) @strict;
CREATE INDEX rollout_tpns_by_tpn ON rollout_tpns (tpn, state, iso_id);

-- Who uses a template.
CREATE INDEX tpns_by_template ON tpns (template_id, tpn, iso_id, status);
