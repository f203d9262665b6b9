-- What people wrote about posts is kept beside what they wrote about products: product_id is the
-- number of either, and a review is the kind of comment that products get.
ALTER TABLE reviews ADD COLUMN kind @text NOT NULL DEFAULT 'review';
ALTER TABLE reviews ADD COLUMN parent_id @int NOT NULL DEFAULT 0;
ALTER TABLE reviews ADD COLUMN author_url @text NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN author_ip @text NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN author_agent @text NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN meta @text NOT NULL DEFAULT '{}';
CREATE INDEX reviews_by_kind ON reviews (kind, status, created_us, site_id);
CREATE INDEX reviews_by_parent ON reviews (parent_id, site_id);
