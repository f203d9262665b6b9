//! Prices of the catalogue as a shop window shows them: with taxes or without, whichever way they
//! were written down.

use db::Conn;
use frame::Options;
use types::{Amount, Result};

use super::record::Address;
use super::taxes::{self, TaxLocation};
use super::totals::{Shop, TAXABLE};

/// How prices are shown. **Where they are shown as they are written, no rate is read.**
#[derive(Debug)]
pub struct ShownPrices {
    /// What it takes to convert a price, if it has to be.
    conversion: Option<Conversion>,
}

#[derive(Debug)]
struct Conversion {
    shop: Shop,
    location: TaxLocation,
    with_taxes: bool,
}

impl ShownPrices {
    /// As the shop shows them to whoever has no address yet.
    pub fn in_shop(conn: &mut dyn Conn, options: &Options) -> Result<Self> {
        Self::read(conn, options, "woocommerce_tax_display_shop", None)
    }

    /// As a cart shows them that is taxed at this address.
    pub fn in_cart(conn: &mut dyn Conn, options: &Options, address: &Address) -> Result<Self> {
        Self::read(conn, options, "woocommerce_tax_display_cart", Some(address))
    }

    fn read(
        conn: &mut dyn Conn,
        options: &Options,
        choice: &str,
        address: Option<&Address>,
    ) -> Result<Self> {
        let with_taxes = options.text(choice) == "incl";
        let are_written_so = options.is_on("woocommerce_prices_include_tax") == with_taxes;
        // Taxes that a price includes are those of the shop's own place, which may be another one.
        let moves = with_taxes && address.is_some();
        if !options.is_on("woocommerce_calc_taxes") || (are_written_so && !moves) {
            return Ok(Self { conversion: None });
        }
        let shop = Shop::load(conn, options)?;
        let location = match address.filter(|address| !address.country.is_empty()) {
            Some(address) => TaxLocation::of_address(address),
            None => shop.base().clone(),
        };
        Ok(Self { conversion: Some(Conversion { shop, location, with_taxes }) })
    }

    /// A price of something of this tax class and status.
    pub fn shown(&self, price: Amount, class: &str, status: &str) -> Amount {
        let Some(Conversion { shop, location, with_taxes }) = &self.conversion else {
            return price;
        };
        if status != TAXABLE {
            return price;
        }
        if !with_taxes {
            return shop.without_tax(price, class);
        }
        let rates = shop.rates.at(location, class);
        if !shop.prices_include_tax {
            return price + taxes::sum(&taxes::on_top(price, &rates));
        }
        let at_home = shop.rates.at(shop.base(), class);
        if rates == at_home {
            return price;
        }
        let rounded = |taken: &[taxes::Taken]| -> Amount {
            taken.iter().map(|(_, tax)| shop.round_tax(*tax)).sum()
        };
        let bare = price - rounded(&taxes::within(price, &at_home));
        bare + rounded(&taxes::on_top(bare, &rates))
    }
}
