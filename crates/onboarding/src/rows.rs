//! What onboarding keeps: the queries of ISOs and their keys, of merchants, stores and terminals,
//! and of what was asked, decided and told. Rows in, rows out: **all SQL of this crate is below
//! here**, and nothing waits inside a transaction.

pub mod api_key;
pub mod audit;
pub mod audit_keeping;
pub mod audit_verified;
pub mod bulk_upload;
pub mod caught_webhook;
pub mod connection;
pub mod connection_alert;
pub mod device;
pub mod due_work;
mod hex;
pub mod history;
pub mod idempotency;
pub mod iso_account;
pub mod iso_invitation;
pub mod iso_registration;
pub mod merchant;
pub mod onboarding_link;
pub mod portfolio;
pub mod portfolio_rates;
pub mod quota;
pub mod request_log;
pub mod reset;
pub mod rollout;
pub mod sale;
pub mod template;
pub mod tpn;
pub mod webhook_endpoint;

use db::Sql;

/// Every statement of this module.
pub fn all_statements() -> Vec<&'static Sql> {
    [
        api_key::STATEMENTS,
        audit::STATEMENTS,
        audit_keeping::STATEMENTS,
        audit_verified::STATEMENTS,
        bulk_upload::STATEMENTS,
        caught_webhook::STATEMENTS,
        connection::STATEMENTS,
        connection_alert::STATEMENTS,
        device::STATEMENTS,
        due_work::STATEMENTS,
        history::STATEMENTS,
        idempotency::STATEMENTS,
        iso_account::STATEMENTS,
        iso_invitation::STATEMENTS,
        iso_registration::STATEMENTS,
        merchant::STATEMENTS,
        onboarding_link::STATEMENTS,
        portfolio::STATEMENTS,
        portfolio_rates::STATEMENTS,
        quota::STATEMENTS,
        request_log::STATEMENTS,
        reset::STATEMENTS,
        rollout::STATEMENTS,
        sale::STATEMENTS,
        template::STATEMENTS,
        tpn::STATEMENTS,
        webhook_endpoint::STATEMENTS,
    ]
    .concat()
}
