//! Every statement of this crate in one list, so that a test can prepare each on both engines.

use crate::{
    Sql, api_key, application_password, consumer_key, counter, fact, idempotency, iso, merchant,
    migrate, oembed_cache, option, outbox, post, revision, session, template, term, tpn, user,
};

/// All statements. A test compares their number with the declarations in the sources.
pub fn all() -> Vec<&'static Sql> {
    [
        api_key::STATEMENTS,
        application_password::STATEMENTS,
        consumer_key::STATEMENTS,
        counter::STATEMENTS,
        fact::STATEMENTS,
        idempotency::STATEMENTS,
        iso::STATEMENTS,
        merchant::STATEMENTS,
        migrate::STATEMENTS,
        oembed_cache::STATEMENTS,
        option::STATEMENTS,
        outbox::STATEMENTS,
        post::STATEMENTS,
        revision::STATEMENTS,
        session::STATEMENTS,
        template::STATEMENTS,
        term::STATEMENTS,
        tpn::STATEMENTS,
        user::STATEMENTS,
    ]
    .concat()
}
