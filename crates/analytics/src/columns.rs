//! Columns of reports: what each is called, what kind of number it is, and how it comes out of
//! measures of the facts. **A column is defined once**; totals, intervals, segments, rows, schemas
//! and indicators all read the same definition.

use contract::rest::Schema;
use serde_json::{Map, Value, json};

use crate::query::Measure;

/// Money is kept in millionths.
const MILLION: f64 = 1_000_000.0;
/// The database of the reference divides whole numbers to four decimals.
const RATIO_DECIMALS: f64 = 10_000.0;

/// How a sum of measures becomes a number of the answer.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Count,
    Money,
    /// Money without its sign.
    Magnitude,
    /// So many to each of these; to four decimals.
    CountPer(Measure),
    /// So much to each of these.
    MoneyPer(Measure),
}

/// What else clients are told about a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// It can be asked for as an indicator.
    pub indicator: bool,
    pub currency: bool,
}

/// A column: the sum of its terms, in its shape.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub name: &'static str,
    pub about: &'static str,
    pub shape: Shape,
    pub terms: &'static [(i64, Measure)],
    pub marks: Marks,
}

/// A column of one measure.
pub const fn column(
    name: &'static str,
    about: &'static str,
    shape: Shape,
    terms: &'static [(i64, Measure)],
) -> Column {
    Column { name, about, shape, terms, marks: Marks { indicator: false, currency: false } }
}

impl Column {
    #[must_use]
    pub const fn indicator(mut self) -> Self {
        self.marks.indicator = true;
        self
    }

    #[must_use]
    pub const fn currency(mut self) -> Self {
        self.marks.currency = true;
        self
    }

    /// The same column where its figure comes from something else.
    #[must_use]
    pub const fn terms(mut self, terms: &'static [(i64, Measure)]) -> Self {
        self.terms = terms;
        self
    }

    #[must_use]
    pub const fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// The same figure under another name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    fn measures(&self) -> impl Iterator<Item = Measure> {
        let divisor = match self.shape {
            Shape::CountPer(measure) | Shape::MoneyPer(measure) => Some(measure),
            Shape::Count | Shape::Money | Shape::Magnitude => None,
        };
        self.terms.iter().map(|(_, measure)| *measure).chain(divisor)
    }

    fn schema(&self) -> Schema {
        let kind = match self.shape {
            Shape::Count => Schema::integer(),
            _ => Schema::number(),
        };
        let mut schema = kind.about(self.about).context(&["view", "edit"]).readonly();
        if self.marks.indicator {
            schema = schema.keyword("indicator", true);
        }
        if self.marks.currency {
            schema = schema.format("currency");
        }
        schema
    }
}

/// The properties of the columns, for descriptions of answers.
pub fn schemas(columns: &[Column]) -> Vec<(&'static str, Schema)> {
    columns.iter().map(|column| (column.name, column.schema())).collect()
}

/// The measures that columns need, each once; and the columns in terms of their positions.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub measures: Vec<Measure>,
    columns: Vec<Column>,
}

impl Plan {
    pub fn of(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut plan = Self::default();
        for column in columns {
            for measure in column.measures() {
                plan.need(measure);
            }
            plan.columns.push(column);
        }
        plan
    }

    /// The position of a measure, which is added if it is not there.
    pub fn need(&mut self, measure: Measure) -> usize {
        let found = self.measures.iter().position(|known| *known == measure);
        found.unwrap_or_else(|| {
            self.measures.push(measure);
            self.measures.len() - 1
        })
    }

    /// The number of a measure among the values of an answer; 0 where there is none.
    pub fn raw(&self, measure: Measure, values: &[i64]) -> i64 {
        let position = self.measures.iter().position(|known| *known == measure);
        position.and_then(|position| values.get(position)).copied().unwrap_or_default()
    }

    /// The numbers of the columns, in their order. No values at all are zeros.
    pub fn members(&self, values: &[i64]) -> Map<String, Value> {
        let columns = self.columns.iter();
        columns.map(|column| (column.name.to_owned(), self.value(column, values))).collect()
    }

    /// The number of a column by its name.
    pub fn number(&self, name: &str, values: &[i64]) -> Option<Value> {
        let column = self.columns.iter().find(|column| column.name == name)?;
        Some(self.value(column, values))
    }

    fn value(&self, column: &Column, values: &[i64]) -> Value {
        let terms = column.terms.iter();
        let terms = terms.map(|(sign, measure)| sign.saturating_mul(self.raw(*measure, values)));
        let sum = saturating_sum(terms);
        match column.shape {
            Shape::Count => json!(sum),
            Shape::Money => json!(money(sum)),
            Shape::Magnitude => json!(money(sum.saturating_abs())),
            Shape::CountPer(divisor) => match self.raw(divisor, values) {
                0 => json!(0),
                divisor => json!(ratio(sum, divisor)),
            },
            Shape::MoneyPer(divisor) => match self.raw(divisor, values) {
                0 => json!(0),
                divisor => number(money_as_float(sum) / float(divisor)),
            },
        }
    }
}

/// The sum, or the nearest number that there is.
pub fn saturating_sum(values: impl Iterator<Item = i64>) -> i64 {
    let sum: i128 = values.map(i128::from).sum();
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

/// An amount in millionths as clients see it: a number without a fraction where it has none.
pub fn money(millionths: i64) -> Value {
    number(money_as_float(millionths))
}

pub fn money_as_float(millionths: i64) -> f64 {
    float(millionths) / MILLION
}

/// How many to each, to four decimals; halves go away from zero.
pub fn ratio(count: i64, divisor: i64) -> Value {
    number((float(count) / float(divisor) * RATIO_DECIMALS).round() / RATIO_DECIMALS)
}

/// A number as JSON, without a fraction where it has none.
pub fn number(value: f64) -> Value {
    let whole = format!("{value:.0}");
    match whole.parse::<i64>() {
        Ok(whole) if value.fract() == 0.0 => json!(whole),
        _ => json!(value),
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "amounts fit 53 bits")]
pub fn float(value: i64) -> f64 {
    value as f64
}
