-- How many there are, for lists that show a page of them.
@tally orders (kind @text, status @text);
@tally users (roles @text);
@tally reviews (kind @text, status @text, rating @int);
@tally coupons (status @text, discount_kind @text);
@tally customer_lookup ();

-- With all that is asked for, so that the rows are left alone: reviews of the products of a category,
-- customers who registered in a year, and TPNs by the version of their template.
CREATE INDEX reviews_of_product ON reviews (product_id, status, kind, site_id);
CREATE INDEX users_registered ON users (registered_us, site_id, roles);
CREATE INDEX tpns_of_template ON tpns (template_id, tpn, iso_id, status, template_version);
-- Readers wait from here on only.
DROP INDEX reviews_by_product;
DROP INDEX users_by_registration;
DROP INDEX tpns_by_template;

-- Options are kept in memory for a moment, and no longer than until somebody writes one:
-- announced: options
