-- What an editor typed and has not saved yet: one per item and user. The item may be of any kind
-- that has a number of the posts, so that nothing refers to one table of items.
CREATE TABLE autosaves (
  site_id @int NOT NULL,
  autosave_id @int NOT NULL,
  post_id @int NOT NULL,
  author_id @int NOT NULL,
  title @text NOT NULL,
  content @text NOT NULL,
  excerpt @text NOT NULL,
  date_us @int NOT NULL,
  date_gmt_us @int NOT NULL,
  PRIMARY KEY (site_id, autosave_id)
) @strict;
CREATE UNIQUE INDEX autosaves_by_post ON autosaves (post_id, author_id, site_id);
