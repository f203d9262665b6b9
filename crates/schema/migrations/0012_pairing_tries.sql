-- How often a code was tried in vain. Wrong codes are told apart by how they begin; of that, too, only
-- a keyed hash is stored. Codes that were made before have none.
ALTER TABLE pairing_codes ADD COLUMN prefix_hash @bytes;
ALTER TABLE pairing_codes ADD COLUMN wrong_tries @int NOT NULL DEFAULT 0;
CREATE INDEX pairing_codes_by_prefix ON pairing_codes (prefix_hash, iso_id);
