//! An order or refund as it is stored: the columns that lists search and sort, the details beside
//! them, and its lines. [`Order`] is read and written whole.

use db::{Conn, filter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shop_rows::order::{self, ItemKind, OrderItemRow, OrderKind, OrderRow};
use shop_rows::order_note::{self, OrderNoteRow};
use types::{Amount, Error, Result};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    pub row: OrderRow,
    pub details: Details,
    pub items: Vec<Line>,
    /// Notes that are written together with it, whatever order they name.
    pub notes: Vec<OrderNoteRow>,
    /// Changes of its status that e-mails have not followed yet: from where, to where.
    pub transitions: Vec<(String, String)>,
}

/// What nobody filters or sorts by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    pub billing: Address,
    pub shipping: Address,
    pub payment_method_title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub transaction_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub customer_ip_address: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub customer_user_agent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub customer_note: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cart_hash: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meta_data: Vec<Value>,
    /// Whether the stock of its products has fallen for it.
    #[serde(skip_serializing_if = "is_no")]
    pub stock_reduced: bool,
    /// What it has added to the sales of products, so that the same can be taken off again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_sales: Option<Vec<(i64, i64)>>,
    /// Which uses of coupons were counted for it, and by whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_coupons: Option<Vec<(i64, String)>>,
    /// Where the buyer can read what the order came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Whether the store was sent an e-mail about it.
    #[serde(skip_serializing_if = "is_no")]
    pub is_announced: bool,
    /// Of a refund: whether a provider paid the money back.
    #[serde(skip_serializing_if = "is_no")]
    pub refunded_payment: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
fn is_no(flag: &bool) -> bool {
    !*flag
}

/// What an order remembers of its receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// What makes the address one that nobody can guess.
    pub token: String,
    /// The last day on which it can be read, such as `2026-11-15`.
    pub last_day: String,
}

/// Where to bill or to ship.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    pub first_name: String,
    pub last_name: String,
    pub company: String,
    pub address_1: String,
    pub address_2: String,
    pub city: String,
    pub state: String,
    pub postcode: String,
    pub country: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub email: String,
    pub phone: String,
}

impl Address {
    /// All of it in one line, as searches look through it.
    pub fn index(&self) -> String {
        let parts = [
            &self.first_name,
            &self.last_name,
            &self.company,
            &self.address_1,
            &self.address_2,
            &self.city,
            &self.state,
            &self.postcode,
            &self.country,
            &self.email,
            &self.phone,
        ];
        parts.map(String::as_str).join(" ")
    }

    pub fn field_mut(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "first_name" => &mut self.first_name,
            "last_name" => &mut self.last_name,
            "company" => &mut self.company,
            "address_1" => &mut self.address_1,
            "address_2" => &mut self.address_2,
            "city" => &mut self.city,
            "state" => &mut self.state,
            "postcode" => &mut self.postcode,
            "country" => &mut self.country,
            "email" => &mut self.email,
            "phone" => &mut self.phone,
            _ => return None,
        })
    }
}

/// A line with its details.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    pub row: OrderItemRow,
    pub details: LineDetails,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineDetails {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meta_data: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taxes: Vec<TaxShare>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tax_class: String,
    /// Of shipping and fees: `taxable` or `none`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tax_status: String,
    /// Of shipping.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instance_id: String,
    /// Of a tax.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    #[serde(skip_serializing_if = "is_no")]
    pub compound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_percent: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shipping_tax: Option<Amount>,
}

/// What one rate takes of a line, with all its decimals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxShare {
    pub rate_id: i64,
    pub total: Amount,
    /// Before discounts; only lines about products have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtotal: Option<Amount>,
}

impl Line {
    pub fn of_kind(kind: ItemKind) -> Self {
        let row = OrderItemRow { kind, ..OrderItemRow::default() };
        let tax_status = match kind {
            ItemKind::Shipping | ItemKind::Fee => "taxable".to_owned(),
            _ => String::new(),
        };
        Self { row, details: LineDetails { tax_status, ..LineDetails::default() } }
    }

    fn read(row: OrderItemRow) -> Result<Self> {
        Ok(Self { details: details(&row.details)?, row })
    }

    /// The variation, or else the product, that the line is about; 0 for none.
    pub fn sold_id(&self) -> i64 {
        if self.row.variation_id == 0 { self.row.product_id } else { self.row.variation_id }
    }

    /// The text of the first entry with this key.
    pub fn meta(&self, key: &str) -> Option<&str> {
        let entry = self.details.meta_data.iter().find(|entry| entry["key"] == *key)?;
        entry["value"].as_str()
    }
}

impl Order {
    pub fn read(stored: order::Order) -> Result<Self> {
        let items = stored.items.into_iter().map(Line::read).collect::<Result<_>>()?;
        let details = details(&stored.row.details)?;
        Ok(Self { details, row: stored.row, items, notes: Vec::new(), transitions: Vec::new() })
    }

    /// The order, or refund, of this id.
    pub fn get(conn: &mut dyn Conn, order_id: i64, kind: OrderKind) -> Result<Option<Self>> {
        let found = order::get_with_items(conn, order_id)?;
        found.filter(|found| found.row.kind == kind).map(Self::read).transpose()
    }

    pub fn id(&self) -> i64 {
        self.row.order_id
    }

    pub fn lines(&self, kind: ItemKind) -> impl Iterator<Item = &Line> {
        self.items.iter().filter(move |item| item.row.kind == kind)
    }

    pub fn lines_mut(&mut self, kind: ItemKind) -> impl Iterator<Item = &mut Line> {
        self.items.iter_mut().filter(move |item| item.row.kind == kind)
    }

    /// Gives the order and its lines the numbers that they do not have yet.
    pub fn assign_ids(&mut self, conn: &mut dyn Conn) -> Result<()> {
        if self.row.order_id == 0 {
            self.row.order_id = order::take_id(conn)?;
        }
        let order_id = self.row.order_id;
        if self.row.number.is_empty() {
            self.row.number = order_id.to_string();
        }
        let new = self.items.iter().filter(|line| line.row.item_id == 0).count();
        let mut next = match i64::try_from(new) {
            Ok(count) if count > 0 => order::take_item_ids(conn, count)?,
            _ => 0,
        };
        for line in &mut self.items {
            line.row.order_id = order_id;
            if line.row.item_id == 0 {
                line.row.item_id = next;
                next += 1;
            }
        }
        Ok(())
    }

    /// Inserts the order with its lines and notes, and returns it as it is stored.
    pub fn insert(mut self, conn: &mut dyn Conn) -> Result<Self> {
        self.assign_ids(conn)?;
        self.pack()?;
        order::insert_numbered(conn, &self.stored())?;
        self.write_notes(conn)?;
        Ok(self)
    }

    /// Writes the order with its lines and notes, and returns it as it is stored.
    pub fn update(mut self, conn: &mut dyn Conn) -> Result<Self> {
        self.assign_ids(conn)?;
        self.pack()?;
        order::update(conn, &self.row)?;
        let lines: Vec<OrderItemRow> = self.items.iter().map(|line| line.row.clone()).collect();
        order::change_items(conn, self.row.order_id, &lines)?;
        self.write_notes(conn)?;
        Ok(self)
    }

    fn write_notes(&mut self, conn: &mut dyn Conn) -> Result<()> {
        for note in std::mem::take(&mut self.notes) {
            let note = OrderNoteRow { order_id: self.row.order_id, ..note };
            order_note::insert(conn, &note)?;
        }
        Ok(())
    }

    /// Inserts or replaces the order of this id.
    pub fn put(mut self, conn: &mut dyn Conn) -> Result<()> {
        self.pack()?;
        if order::update(conn, &self.row)? {
            let lines: Vec<OrderItemRow> = self.items.into_iter().map(|line| line.row).collect();
            return order::replace_items(conn, self.row.order_id, &lines);
        }
        order::insert_with_id(conn, &self.stored())
    }

    /// The order as rows, for whoever writes many at once.
    pub(crate) fn into_stored(mut self) -> Result<order::Order> {
        self.pack()?;
        let items = self.items.into_iter().map(|line| line.row).collect();
        Ok(order::Order { row: self.row, items })
    }

    fn stored(&self) -> order::Order {
        let items = self.items.iter().map(|line| line.row.clone()).collect();
        order::Order { row: self.row.clone(), items }
    }

    /// Writes the details and what searches look through into their columns. **An order whose
    /// figures were too large to be calculated with is never written.**
    fn pack(&mut self) -> Result<()> {
        if !self.is_exact() {
            let number = &self.row.number;
            return Err(Error::invalid(format!("the amounts of order {number} are too large")));
        }
        self.row.details = text(&self.details);
        self.row.billing_email = self.details.billing.email.clone();
        let mut search = vec![
            self.details.billing.index(),
            self.details.shipping.index(),
            self.details.transaction_id.clone(),
        ];
        for line in &mut self.items {
            line.row.details = text(&line.details);
            if line.row.kind == ItemKind::Line {
                search.push(line.row.name.clone());
            }
        }
        let mut text = search.join("\n");
        let limit = text.floor_char_boundary(filter::SEARCH_LENGTH_MAX);
        text.truncate(limit);
        self.row.search = text;
        Ok(())
    }

    fn is_exact(&self) -> bool {
        let row = &self.row;
        let of_order = [
            row.total,
            row.total_tax,
            row.cart_tax,
            row.shipping_total,
            row.shipping_tax,
            row.discount_total,
            row.discount_tax,
            row.refund_amount,
        ];
        let of_lines = self.items.iter().flat_map(|line| {
            let row = &line.row;
            [row.quantity, row.subtotal, row.subtotal_tax, row.total, row.total_tax]
        });
        of_order.into_iter().chain(of_lines).all(Amount::is_exact)
    }
}

/// Details as they are stored.
fn text<T: Serialize>(details: &T) -> String {
    serde_json::to_string(details).expect("details have texts for names and nothing that fails")
}

fn details<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::internal("cannot read an order's details").because(error))
}
