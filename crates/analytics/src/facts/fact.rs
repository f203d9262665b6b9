//! Facts as rows: what an order or refund comes to in reports. Derivation makes them, lists show
//! them, and chunks keep them as columns.

use std::sync::Arc;

use types::{Amount, Timestamp};

use super::bytes::{Decoder, Encoder};

/// An order or refund.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFact {
    pub order_id: i64,
    /// The order of a refund; else 0.
    pub parent_id: i64,
    pub created: Timestamp,
    pub paid: Option<Timestamp>,
    pub completed: Option<Timestamp>,
    /// Without a prefix; of a refund, that of its order.
    pub status: Arc<str>,
    /// As reports number customers; 0 for nobody.
    pub customer_id: i64,
    /// Whose sale it was; empty for nobody's.
    pub merchant_id: Arc<str>,
    pub store_id: Arc<str>,
    pub tpn: Arc<str>,
    /// The code of the currency that its amounts are in; of a refund, that of its order.
    pub currency: Arc<str>,
    /// Pieces sold.
    pub items: i64,
    pub total: Amount,
    pub tax: Amount,
    pub shipping: Amount,
    pub net: Amount,
    /// Whether the customer had bought before; nothing for refunds. It follows from the other
    /// orders of the customer, so derivation leaves it open.
    pub returning: Option<bool>,
    pub lines: Vec<LineFact>,
    pub coupons: Vec<CouponFact>,
    pub taxes: Vec<TaxFact>,
}

impl OrderFact {
    pub fn is_refund(&self) -> bool {
        self.parent_id != 0
    }
}

/// A line about a product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineFact {
    pub product_id: i64,
    pub variation_id: i64,
    pub quantity: i64,
    pub net: Amount,
    pub gross: Amount,
    /// What coupons took off.
    pub discount: Amount,
    pub tax: Amount,
    pub shipping: Amount,
    pub shipping_tax: Amount,
    /// What was chosen: name and value, by name.
    pub attributes: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CouponFact {
    /// Below 0 for a coupon that nobody knows any more.
    pub coupon_id: i64,
    pub discount: Amount,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxFact {
    pub rate_id: i64,
    /// The code that the rate had, such as `US-CA-STATE TAX-1`.
    pub code: Arc<str>,
    pub percent: Amount,
    /// Of goods and fees.
    pub of_goods: Amount,
    pub of_shipping: Amount,
}

/// A file that was downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DownloadFact {
    pub log_id: i64,
    pub at: Timestamp,
    pub permission_id: i64,
    /// The file, among those of its product.
    pub download_id: String,
    pub product_id: i64,
    pub order_id: i64,
    /// Who bought the file; 0 for a guest.
    pub user_id: i64,
    pub ip: String,
    /// Of its order.
    pub merchant_id: Arc<str>,
    pub store_id: Arc<str>,
}

impl DownloadFact {
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        for number in [
            self.log_id,
            self.at.as_micros(),
            self.permission_id,
            self.product_id,
            self.order_id,
            self.user_id,
        ] {
            encoder.number(number);
        }
        for text in [&self.download_id, &self.ip, &*self.merchant_id, &*self.store_id] {
            encoder.text(text);
        }
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            log_id: decoder.number()?,
            at: Timestamp::from_micros(decoder.number()?),
            permission_id: decoder.number()?,
            product_id: decoder.number()?,
            order_id: decoder.number()?,
            user_id: decoder.number()?,
            download_id: decoder.text()?,
            ip: decoder.text()?,
            merchant_id: decoder.text()?.into(),
            store_id: decoder.text()?.into(),
        })
    }
}
