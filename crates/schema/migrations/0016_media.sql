-- What is known about the file of a post of the kind attachment. width and height are 0 for what is
-- no picture; origin is the address that the file was fetched from, or empty.
CREATE TABLE media (
  site_id @int NOT NULL,
  post_id @int NOT NULL,
  file @text NOT NULL,
  file_key @text NOT NULL,
  mime_type @text NOT NULL,
  bytes @int NOT NULL,
  width @int NOT NULL,
  height @int NOT NULL,
  alt_text @text NOT NULL,
  origin @text NOT NULL,
  edited_from @int NOT NULL,
  sizes @text NOT NULL,
  PRIMARY KEY (site_id, post_id)
) @strict;
CREATE INDEX media_by_origin ON media (origin, site_id);
CREATE INDEX media_by_type ON media (mime_type, post_id, site_id);

-- The files of the library by their names below the folder of uploads. A row without a post stays
-- when its file is deleted, so that the name is never given to another content.
CREATE TABLE media_files (
  site_id @int NOT NULL,
  name @text NOT NULL,
  post_id @int NOT NULL,
  mime_type @text NOT NULL,
  bytes @int NOT NULL,
  tag @text NOT NULL,
  PRIMARY KEY (site_id, name)
) @strict;
CREATE INDEX media_files_by_post ON media_files (post_id, site_id);
