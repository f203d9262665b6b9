//! The tables in ClickHouse and their columns. **An order or refund is one row**, with its lines,
//! coupons and taxes as lists: it is replaced as a whole, and no reader can see half of it.
//!
//! Texts and numbers that reports sum and group by are the columns of the facts themselves
//! (`facts::field`); what else a fact holds is listed here. Making a table, writing a row and
//! reading one follow from the same list.
//!
//! A row carries a version and a mark of deletion. The engine keeps the newest version of a key
//! (`ReplacingMergeTree`), and who reads asks for that (`FINAL`).

use std::sync::{Arc, LazyLock};

use types::{Amount, Result, Timestamp};

use super::binary::{Decoder, Encoder};
use super::sql::joined;
use crate::facts::column::NOTHING;
use crate::facts::{
    CouponFact, DownloadFact, LineFact, LineNumber, OrderFact, OrderNumber, OrderText, TaxFact,
};

/// Stands between the name and the value of an attribute.
pub(super) const ATTRIBUTE_BREAK: char = '\u{1f}';

/// The lists of a table, by which it is known whether tables are those of this version.
pub(crate) fn layout() -> String {
    let (orders, downloads) = (ORDERS.definitions(), DOWNLOADS.definitions());
    joined([orders.as_slice(), downloads.as_slice()].into_iter().flatten(), ", ")
}

/// A table of this name, with its other columns, and the key by which rows replace each other.
pub(super) fn create(name: &str, columns: &[String], key: &str) -> String {
    let columns = joined(columns, ", ");
    format!(
        "CREATE TABLE IF NOT EXISTS {name} ({columns}, version UInt64, deleted UInt8) \
         ENGINE = ReplacingMergeTree(version) ORDER BY ({key})"
    )
}

/// The categories of each product, in which its lines count: by each way to roll them up.
pub(super) const PRODUCT_COLUMNS: [&str; 4] =
    ["product_id Int64", "direct Array(Int64)", "ancestors Array(Int64)", "each_path Array(Int64)"];

type Get<F, T> = Box<dyn Fn(&F) -> T + Send + Sync>;
type Set<F, T> = Box<dyn Fn(&mut F, T) + Send + Sync>;

/// How a value of a fact is written and read.
enum Value<F> {
    Number(Get<F, i64>, Set<F, i64>),
    Text(Get<F, Arc<str>>, Set<F, Arc<str>>),
    Texts(Get<F, Vec<String>>, Set<F, Vec<String>>),
}

struct Column<F> {
    name: String,
    value: Value<F>,
}

impl<F> Column<F> {
    fn type_name(&self) -> &'static str {
        match self.value {
            Value::Number(..) => "Int64",
            Value::Text(..) => "String",
            Value::Texts(..) => "Array(String)",
        }
    }

    fn encode(&self, fact: &F, encoder: &mut Encoder) {
        match &self.value {
            Value::Number(get, _) => encoder.number(get(fact)),
            Value::Text(get, _) => encoder.text(&get(fact)),
            Value::Texts(get, _) => {
                let texts = get(fact);
                encoder.length(texts.len());
                for text in &texts {
                    encoder.text(text);
                }
            }
        }
    }

    fn decode(&self, fact: &mut F, decoder: &mut Decoder<'_>) -> Result<()> {
        match &self.value {
            Value::Number(_, set) => set(fact, decoder.number()?),
            Value::Text(_, set) => set(fact, decoder.text()?.into()),
            Value::Texts(_, set) => {
                let length = decoder.length()?;
                let texts = (0..length).map(|_| Ok(decoder.text()?.to_owned()));
                set(fact, texts.collect::<Result<_>>()?);
            }
        }
        Ok(())
    }
}

fn number<F>(
    name: impl Into<String>,
    get: impl Fn(&F) -> i64 + Send + Sync + 'static,
    set: impl Fn(&mut F, i64) + Send + Sync + 'static,
) -> Column<F> {
    Column { name: name.into(), value: Value::Number(Box::new(get), Box::new(set)) }
}

fn text<F>(
    name: impl Into<String>,
    get: impl Fn(&F) -> Arc<str> + Send + Sync + 'static,
    set: impl Fn(&mut F, Arc<str>) + Send + Sync + 'static,
) -> Column<F> {
    Column { name: name.into(), value: Value::Text(Box::new(get), Box::new(set)) }
}

/// A whole number that is a member of the fact, an amount, a time or a text.
macro_rules! member {
    (number $fact:ident.$member:ident as $name:literal) => {
        number($name, |fact: &$fact| fact.$member, |fact: &mut $fact, value| fact.$member = value)
    };
    (amount $fact:ident.$member:ident as $name:literal) => {
        number(
            $name,
            |fact: &$fact| fact.$member.as_millionths(),
            |fact: &mut $fact, value| fact.$member = Amount::from_millionths(value),
        )
    };
    (time $fact:ident.$member:ident as $name:literal) => {
        number(
            $name,
            |fact: &$fact| fact.$member.as_micros(),
            |fact: &mut $fact, value| fact.$member = Timestamp::from_micros(value),
        )
    };
    (maybe_time $fact:ident.$member:ident as $name:literal) => {
        number(
            $name,
            |fact: &$fact| fact.$member.map_or(NOTHING, Timestamp::as_micros),
            |fact: &mut $fact, value| {
                fact.$member = (value != NOTHING).then(|| Timestamp::from_micros(value));
            },
        )
    };
    (text $fact:ident.$member:ident as $name:literal) => {
        text(
            $name,
            |fact: &$fact| Arc::clone(&fact.$member),
            |fact: &mut $fact, value| fact.$member = value,
        )
    };
    (string $fact:ident.$member:ident as $name:literal) => {
        text(
            $name,
            |fact: &$fact| fact.$member.as_str().into(),
            |fact: &mut $fact, value| fact.$member = String::from(&*value),
        )
    };
}

/// The columns of a table whose rows are facts of this kind, with the lists that a row has.
pub(super) struct Columns<F: 'static> {
    own: Vec<Column<F>>,
    lists: Vec<Box<dyn List<F>>>,
}

/// Facts of a fact, kept as one array for each of their columns.
trait List<F>: Send + Sync {
    fn definitions(&self) -> Vec<(String, String)>;
    fn encode(&self, fact: &F, encoder: &mut Encoder);
    fn decode(&self, fact: &mut F, decoder: &mut Decoder<'_>) -> Result<()>;
}

struct Children<F, C> {
    columns: Vec<Column<C>>,
    of: fn(&F) -> &Vec<C>,
    of_mut: fn(&mut F) -> &mut Vec<C>,
}

impl<F, C: Default + Clone> List<F> for Children<F, C> {
    fn definitions(&self) -> Vec<(String, String)> {
        let type_name = |column: &Column<C>| format!("Array({})", column.type_name());
        self.columns.iter().map(|column| (column.name.clone(), type_name(column))).collect()
    }

    fn encode(&self, fact: &F, encoder: &mut Encoder) {
        let children = (self.of)(fact);
        for column in &self.columns {
            encoder.length(children.len());
            for child in children {
                column.encode(child, encoder);
            }
        }
    }

    fn decode(&self, fact: &mut F, decoder: &mut Decoder<'_>) -> Result<()> {
        let children = (self.of_mut)(fact);
        for column in &self.columns {
            children.resize(decoder.length()?, C::default());
            children.iter_mut().try_for_each(|child| column.decode(child, decoder))?;
        }
        Ok(())
    }
}

impl<F: Default> Columns<F> {
    fn named(&self) -> Vec<(String, String)> {
        let own = self.own.iter().map(|own| (own.name.clone(), own.type_name().to_owned()));
        own.chain(self.lists.iter().flat_map(|list| list.definitions())).collect()
    }

    pub(super) fn definitions(&self) -> Vec<String> {
        self.named().into_iter().map(|(name, type_name)| format!("{name} {type_name}")).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.named().into_iter().map(|(name, _)| name).collect()
    }

    pub(super) fn encode(&self, fact: &F, encoder: &mut Encoder) {
        self.own.iter().for_each(|column| column.encode(fact, encoder));
        self.lists.iter().for_each(|list| list.encode(fact, encoder));
    }

    pub(super) fn decode(&self, decoder: &mut Decoder<'_>) -> Result<F> {
        let mut fact = F::default();
        self.own.iter().try_for_each(|column| column.decode(&mut fact, decoder))?;
        self.lists.iter().try_for_each(|list| list.decode(&mut fact, decoder))?;
        Ok(fact)
    }
}

pub(super) static ORDERS: LazyLock<Columns<OrderFact>> = LazyLock::new(|| {
    let plain = [
        member!(number OrderFact.order_id as "order_id"),
        member!(number OrderFact.parent_id as "parent_id"),
        member!(time OrderFact.created as "created"),
        member!(maybe_time OrderFact.paid as "paid"),
        member!(maybe_time OrderFact.completed as "completed"),
        member!(number OrderFact.customer_id as "customer_id"),
    ];
    let texts = OrderText::ALL.iter().map(|field| {
        let get = |fact: &OrderFact| Arc::clone(field.of(fact));
        text(field.name(), get, |fact, value| field.set(fact, value))
    });
    let numbers = OrderNumber::ALL.iter().map(|field| {
        number(field.name(), |fact| field.of(fact), |fact, value| field.set(fact, value))
    });
    let own = plain.into_iter().chain(texts).chain(numbers).collect();
    Columns { own, lists: vec![Box::new(lines()), Box::new(coupons()), Box::new(taxes())] }
});

fn lines() -> Children<OrderFact, LineFact> {
    let plain = [
        member!(number LineFact.product_id as "line_product_id"),
        member!(number LineFact.variation_id as "line_variation_id"),
        Column {
            name: String::from("line_attributes"),
            value: Value::Texts(Box::new(attributes), Box::new(set_attributes)),
        },
    ];
    let numbers = LineNumber::ALL.iter().map(|field| {
        number(line_column(*field), |fact| field.of(fact), |fact, value| field.set(fact, value))
    });
    Children {
        columns: plain.into_iter().chain(numbers).collect(),
        of: |fact| &fact.lines,
        of_mut: |fact| &mut fact.lines,
    }
}

/// The column of a number of lines.
pub(super) fn line_column(number: LineNumber) -> String {
    format!("line_{}", number.name())
}

fn attributes(line: &LineFact) -> Vec<String> {
    let all = line.attributes.iter();
    all.map(|(name, value)| format!("{name}{ATTRIBUTE_BREAK}{value}")).collect()
}

fn set_attributes(line: &mut LineFact, texts: Vec<String>) {
    let all = texts.iter().filter_map(|text| text.split_once(ATTRIBUTE_BREAK));
    line.attributes = all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
}

fn coupons() -> Children<OrderFact, CouponFact> {
    Children {
        columns: vec![
            member!(number CouponFact.coupon_id as "coupon_id"),
            member!(amount CouponFact.discount as "coupon_discount"),
        ],
        of: |fact| &fact.coupons,
        of_mut: |fact| &mut fact.coupons,
    }
}

fn taxes() -> Children<OrderFact, TaxFact> {
    Children {
        columns: vec![
            member!(number TaxFact.rate_id as "tax_rate_id"),
            member!(text TaxFact.code as "tax_code"),
            member!(amount TaxFact.percent as "tax_percent"),
            member!(amount TaxFact.of_goods as "tax_of_goods"),
            member!(amount TaxFact.of_shipping as "tax_of_shipping"),
        ],
        of: |fact| &fact.taxes,
        of_mut: |fact| &mut fact.taxes,
    }
}

pub(super) static DOWNLOADS: LazyLock<Columns<DownloadFact>> = LazyLock::new(|| Columns {
    own: vec![
        member!(number DownloadFact.log_id as "log_id"),
        member!(time DownloadFact.at as "at"),
        member!(number DownloadFact.permission_id as "permission_id"),
        member!(string DownloadFact.download_id as "download_id"),
        member!(number DownloadFact.product_id as "product_id"),
        member!(number DownloadFact.order_id as "order_id"),
        member!(number DownloadFact.user_id as "user_id"),
        member!(string DownloadFact.ip as "ip"),
        member!(text DownloadFact.merchant_id as "merchant_id"),
        member!(text DownloadFact.store_id as "store_id"),
    ],
    lists: Vec::new(),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_comes_back_as_it_went() {
        let at = Timestamp::from_micros;
        let line = LineFact {
            product_id: 7,
            gross: Amount::from_whole(3),
            attributes: vec![("pa_size".to_owned(), "it's".to_owned())],
            ..LineFact::default()
        };
        let tax = TaxFact { rate_id: 2, code: "US-CA".into(), ..TaxFact::default() };
        let order = OrderFact {
            order_id: 5,
            created: at(-1),
            completed: Some(at(9)),
            status: "completed".into(),
            total: Amount::from_millionths(-1),
            lines: vec![line, LineFact::default()],
            taxes: vec![tax],
            ..OrderFact::default()
        };
        let mut encoder = Encoder::default();
        ORDERS.encode(&order, &mut encoder);
        let bytes = encoder.into_bytes();
        let mut decoder = Decoder::new(&bytes);
        assert_eq!(ORDERS.decode(&mut decoder).unwrap(), order);
        assert!(decoder.is_at_end());
    }

    #[test]
    fn no_two_columns_have_one_name() {
        for names in [ORDERS.names(), DOWNLOADS.names()] {
            let different: std::collections::BTreeSet<&String> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{names:?}");
        }
    }
}
