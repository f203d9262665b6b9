-- When somebody last commented, and what shows a picture that goes, is found without reading all.
CREATE INDEX reviews_by_time ON reviews (created_us, site_id);
CREATE INDEX posts_by_featured_media ON posts (featured_media, site_id)
  WHERE featured_media <> 0;
