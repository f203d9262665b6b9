//! The program as its users meet it: over HTTP, on the command line, and through crashes.
//!
//! Every test runs the built binary on a data folder and a database of its own; nothing here calls
//! into the server. [`support::Site`] is such a folder, [`support::Running`] a server on it.
#![cfg(test)]

/// Runs functions of a [`support::Site`] as tests, each on both engines.
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use crate::support::Site;

            #[test]
            fn on_sqlite() {
                super::$name(Site::sqlite());
            }

            #[test]
            fn on_postgres() {
                super::$name(Site::postgres());
            }
        }
    )+};
}

mod abilities;
mod account_security;
mod acme;
mod audit_check;
mod backup;
mod browser;
mod bulk;
mod catalogues;
mod chance;
mod cli;
mod clickhouse;
mod comment_form;
mod compression;
mod conformance;
mod connected_portfolio;
mod connected_stores;
mod crash;
mod data_protection;
mod editor_services;
mod encryption;
mod failover;
mod far_host;
mod first_content;
mod greedy;
mod guide;
mod head_requests;
mod health;
mod hostile;
mod hostile_store;
mod hostile_uploads;
mod imports;
mod installation;
mod links;
mod load;
mod mail;
mod marketplace;
mod memory;
mod mobile;
mod node_group;
mod nodes;
mod notes;
mod onboarding_links;
mod passwords;
mod payment_secrets;
mod payments;
mod people;
mod plugin_work;
mod plugins;
mod rates;
mod receiver;
mod recount;
mod refusals;
mod registration;
mod rehearsals;
mod remote;
mod report_exports;
mod report_freshness;
mod report_imports;
mod request_limits;
mod rest_conformance;
mod rest_refusals;
mod rest_site;
mod retries;
mod revocations;
mod rolling;
mod scaling_guide;
mod scheduled_backups;
mod secrets;
mod service_manager;
mod shared_files;
mod shop_client;
mod shutdown;
mod site_pages;
mod store_proxy;
mod storefront_conformance;
mod stores_clock;
mod stores_keys;
mod stores_live;
mod stores_restored;
mod support;
mod test_bucket;
mod test_market;
mod tls;
mod two_servers;
mod upgrade;
mod uploads;
mod walks;
mod webhooks;
