//! Facts as rows: what an order or refund comes to in reports. Derivation makes them, lists show
//! them, and chunks keep them as columns.

use std::sync::Arc;

use types::{Amount, Timestamp};

use super::bytes::{Decoder, Encoder};
use super::field::{Number, columns, fact};
use crate::record::{LineRecord, Record};

fact! {
    /// An order or refund.
    OrderFact from Record<'_> {
        order_id: i64,
        /// The order of a refund; else 0.
        parent_id: i64,
        created: Timestamp,
        paid: Option<Timestamp>,
        completed: Option<Timestamp>,
        /// As reports number customers; 0 for nobody.
        customer_id: i64,
        /// Whether the customer had bought before; nothing for refunds. It follows from the other
        /// orders of the customer, so derivation leaves it open.
        returning: Option<bool>,
        lines: Vec<LineFact>,
        coupons: Vec<CouponFact>,
        taxes: Vec<TaxFact>,
    }
    texts:
    /// A text of an order or refund, which columns keep as a number of a dictionary.
    OrderText {
        /// Without a prefix; of a refund, that of its order.
        Status => status = |record| Arc::from(record.order.row.status.as_str());
        /// Whose sale it was; empty for nobody's.
        Merchant => merchant_id = |record| shared(record.order.row.merchant_id.as_deref());
        Store => store_id = |record| shared(record.order.row.store_id.as_deref());
        Tpn => tpn = |record| shared(record.order.row.tpn.as_deref());
        /// The code of the currency that its amounts are in; of a refund, that of its order.
        Currency => currency = |record| Arc::from(record.order.row.currency.as_str());
    }
    numbers:
    /// A number of an order or refund that can be summed.
    OrderNumber {
        /// Pieces sold.
        Items => items: i64 = |record| record.quantity().to_whole();
        Total => total: Amount = |record| record.order.row.total;
        Tax => tax: Amount = |record| record.order.row.total_tax;
        Shipping => shipping: Amount = |record| record.order.row.shipping_total;
        Net => net: Amount = |record| record.net();
    }
}

fn shared(text: Option<&str>) -> Arc<str> {
    text.map(Arc::from).unwrap_or_default()
}

impl OrderFact {
    pub fn is_refund(&self) -> bool {
        self.parent_id != 0
    }
}

fact! {
    /// A line about a product.
    LineFact from LineRecord<'_> {
        product_id: i64,
        variation_id: i64,
        /// What was chosen: name and value, by name.
        attributes: Vec<(String, String)>,
    }
    numbers:
    /// A number of a line that can be summed.
    LineNumber {
        Quantity => quantity: i64 = |line| line.item.quantity.to_whole();
        Net => net: Amount = |line| line.item.total.rounded(line.rules.decimals);
        Gross => gross: Amount;
        /// What coupons took off.
        Discount => discount: Amount = |line| line.item.subtotal - line.item.total;
        Tax => tax: Amount = |line| line.details.rounded_tax(line.rules, line.rates);
        Shipping => shipping: Amount;
        ShippingTax => shipping_tax: Amount;
    }
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
