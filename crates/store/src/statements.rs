//! Every statement of this crate in one list, so that a test can prepare each on both engines.

use crate::{
    Sql, admin_note, api_key, application_password, attribute, audit, background_job, consumer_key,
    counter, coupon, customer, customer_lookup, download_log, download_permission, fact,
    idempotency, import, iso, merchant, migrate, oembed_cache, option, order, order_note, outbox,
    post, product, review, revision, session, shipping, tax_class, tax_rate, template, term, tpn,
    user, webhook, webhook_delivery, webhook_endpoint,
};

/// All statements. A test compares their number with the declarations in the sources.
pub fn all() -> Vec<&'static Sql> {
    [
        admin_note::STATEMENTS,
        api_key::STATEMENTS,
        application_password::STATEMENTS,
        attribute::STATEMENTS,
        audit::STATEMENTS,
        background_job::STATEMENTS,
        consumer_key::STATEMENTS,
        counter::STATEMENTS,
        coupon::STATEMENTS,
        customer::STATEMENTS,
        customer_lookup::STATEMENTS,
        download_log::STATEMENTS,
        download_permission::STATEMENTS,
        fact::STATEMENTS,
        idempotency::STATEMENTS,
        import::STATEMENTS,
        iso::STATEMENTS,
        merchant::STATEMENTS,
        migrate::STATEMENTS,
        oembed_cache::STATEMENTS,
        option::STATEMENTS,
        order::STATEMENTS,
        order::SUM_STATEMENTS,
        order::SALES_STATEMENTS,
        order::ITEM_STATEMENTS,
        order_note::STATEMENTS,
        outbox::STATEMENTS,
        post::STATEMENTS,
        product::STATEMENTS,
        review::STATEMENTS,
        revision::STATEMENTS,
        session::STATEMENTS,
        shipping::STATEMENTS,
        tax_class::STATEMENTS,
        tax_rate::STATEMENTS,
        template::STATEMENTS,
        term::STATEMENTS,
        tpn::STATEMENTS,
        user::STATEMENTS,
        webhook::STATEMENTS,
        webhook_delivery::STATEMENTS,
        webhook_endpoint::STATEMENTS,
    ]
    .concat()
}
