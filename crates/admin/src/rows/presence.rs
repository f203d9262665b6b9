//! Whether there is any of something yet, for those who help with setting up. Each answer reads one
//! row at most, however much there is.

use db::{Conn, SITE, Sql, Val, statements};
use site_rows::application_password;
use types::Result;

statements! {
    PRESENT_PRODUCT =
        "SELECT 1 FROM products
         WHERE site_id = $1 AND status = 'publish' AND kind <> 'variation' LIMIT 1";
    PRODUCTS_UP_TO =
        "SELECT COUNT(*) FROM (SELECT product_id FROM products
         WHERE site_id = $1 AND status = 'publish' AND kind <> 'variation' LIMIT $2) AS counted";
    PRESENT_TAX_RATE = "SELECT 1 FROM tax_rates WHERE site_id = $1 LIMIT 1";
    PRESENT_SHIPPING_ZONE = "SELECT 1 FROM shipping_zones WHERE site_id = $1 LIMIT 1";
    PRESENT_MERCHANT = "SELECT 1 FROM merchants LIMIT 1";
    PRESENT_PROFILE = "SELECT 1 FROM profiles LIMIT 1";
    PRESENT_API_KEY = "SELECT 1 FROM api_keys LIMIT 1";
    PRESENT_WEBHOOK_ENDPOINT = "SELECT 1 FROM webhook_endpoints LIMIT 1";
}

/// What there is.
#[expect(clippy::struct_excessive_bools, reason = "each stands for a thing of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// A product that everybody can see.
    pub product: bool,
    pub tax_rate: bool,
    pub shipping_zone: bool,
    pub application_password: bool,
    /// A merchant of any ISO.
    pub merchant: bool,
    /// A payment processor that is bound to a TPN.
    pub processor: bool,
    pub api_key: bool,
    /// Somebody who is told of events.
    pub webhook_endpoint: bool,
}

pub fn read(conn: &mut dyn Conn) -> Result<Presence> {
    let site: &[Val<'_>] = &[SITE.into()];
    Ok(Presence {
        product: any(conn, &PRESENT_PRODUCT, site)?,
        tax_rate: any(conn, &PRESENT_TAX_RATE, site)?,
        shipping_zone: any(conn, &PRESENT_SHIPPING_ZONE, site)?,
        application_password: application_password::any_exist(conn)?,
        merchant: any(conn, &PRESENT_MERCHANT, &[])?,
        processor: any(conn, &PRESENT_PROFILE, &[])?,
        api_key: any(conn, &PRESENT_API_KEY, &[])?,
        webhook_endpoint: any(conn, &PRESENT_WEBHOOK_ENDPOINT, &[])?,
    })
}

/// How many products everybody can see, counted up to `max`.
pub fn products_up_to(conn: &mut dyn Conn, max: i64) -> Result<i64> {
    let count = conn.row(&PRODUCTS_UP_TO, &[SITE.into(), max.into()], |row| row.get::<i64>(0))?;
    Ok(count.unwrap_or_default())
}

fn any(conn: &mut dyn Conn, sql: &'static Sql, values: &[Val<'_>]) -> Result<bool> {
    Ok(conn.row(sql, values, |row| row.get::<i64>(0))?.is_some())
}
