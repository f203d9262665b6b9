//! Every statement of this crate in one list, so that a test can prepare each on both engines.

use crate::{
    Sql, api_key, backup, counter, fact, idempotency, iso, merchant, migrate, outbox, template,
    tpn, user,
};

/// All statements. A test compares their number with the declarations in the sources.
pub fn all() -> Vec<&'static Sql> {
    [
        api_key::STATEMENTS,
        backup::STATEMENTS,
        counter::STATEMENTS,
        fact::STATEMENTS,
        idempotency::STATEMENTS,
        iso::STATEMENTS,
        merchant::STATEMENTS,
        migrate::STATEMENTS,
        outbox::STATEMENTS,
        template::STATEMENTS,
        tpn::STATEMENTS,
        user::STATEMENTS,
    ]
    .concat()
}
