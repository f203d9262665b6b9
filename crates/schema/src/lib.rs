//! The tables of the product: the migrations and their order. **Data only**: `db` runs them, and
//! reads from them which tables and columns there are.
//!
//! A migration is forward only and is never changed after it was published; a change of the tables
//! is a new one at the end of [`MIGRATIONS`].

/// Lists files of the folder `migrations` with their texts.
macro_rules! migrations {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../migrations/", $name, ".sql")))),+]
    };
}

/// All migrations in order, name and text. The number of a migration is its place in this list,
/// from one.
pub const MIGRATIONS: &[(&str, &str)] = migrations![
    "0001_house",
    "0002_commerce",
    "0003_lifecycle",
    "0004_platform",
    "0005_jobs",
    "0006_imports",
    "0007_bulk",
    "0008_isos",
    "0009_setup",
    "0010_plugins",
    "0011_report_files",
    "0012_pairing_tries",
    "0013_coupon_uses",
    "0014_orders_by_email",
    "0015_plugin_emails",
    "0016_media",
    "0017_comments",
    "0018_carts",
    "0019_stock_holds",
    "0020_autosaves",
    "0021_payments",
    "0022_lookups",
    "0023_lists",
    "0024_product_lists",
    "0025_people",
    "0026_second_factors",
    "0027_identities",
    "0028_products_of_terms",
    "0029_rollouts",
    "0030_onboarding_links",
    "0032_checks",
    "0033_nodes",
    "0034_connections",
    "0035_portfolio",
    "0036_tallies",
];
