-- The products of a term in the order of their numbers, so that some of them are found without reading
-- all.
DROP INDEX product_terms_by_term;
CREATE INDEX product_terms_by_term ON product_terms (term_id, site_id, product_id);
