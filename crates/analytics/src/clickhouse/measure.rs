//! The measures of the algebra as aggregate functions: over all rows of a group at once, or in two
//! steps, by order and then over the orders.

use super::source::{Draft, date_column};
use super::tables::line_column;
use crate::facts::{LineNumber, OrderNumber};
use crate::query::{Column, Measure, Per, Query, Subject, Table, When};

const NONE: &str = "toInt64(0)";

/// How what several shards say is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    Sum,
    Latest,
    /// Each shard names what it counts, since others may count the same.
    Set,
}

/// What is made of the values of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Count,
    Sum,
    /// The sum of the first value of each order.
    SumOfFirsts,
    /// How many orders there are.
    Orders,
    /// How many different values there are, which no other shard has.
    Distinct,
    /// How many different values there are; rows have one, or a list of them.
    DistinctAnywhere {
        is_list: bool,
    },
    Latest,
}

#[derive(Debug)]
pub(super) struct Aggregate {
    function: Function,
    /// Names of expressions.
    value: String,
    condition: Option<String>,
}

/// Whether the rows of a query are grouped by order first.
pub(super) fn is_by_order(query: &Query) -> bool {
    let takes_firsts = |measure: &Measure| matches!(measure, Measure::Sum(_, _, Per::Order));
    query.table != Table::Orders && query.measures.iter().any(takes_firsts)
}

impl Aggregate {
    pub(super) fn of(measure: Measure, draft: &mut Draft) -> Self {
        let is_orders = draft.printer.table() == Table::Orders;
        let (function, value, when) = match measure {
            Measure::Rows(when) => (Function::Count, String::new(), when),
            // An order is one row there.
            Measure::Distinct(Subject::Order, when) if is_orders => {
                (Function::Count, String::new(), when)
            }
            Measure::Distinct(Subject::Order, when) => (Function::Orders, String::new(), when),
            Measure::Sum(column, when, per) => {
                let is_once = per == Per::Order && !is_orders;
                let function = if is_once { Function::SumOfFirsts } else { Function::Sum };
                (function, summed(column, draft), when)
            }
            Measure::Distinct(subject, when) => {
                let (function, value) = counted(subject, draft);
                (function, value, when)
            }
            Measure::Latest(date) => {
                let date = draft.printer.column(date_column(date));
                (Function::Latest, date, When::Always)
            }
        };
        let value = if value.is_empty() { value } else { draft.add(&value) };
        let condition = condition(when, draft).map(|condition| draft.add(&condition));
        Self { function, value, condition }
    }

    /// Over all rows of a group.
    pub(super) fn whole(&self, order: &str, is_merged: bool) -> String {
        match self.function {
            Function::Count => number(&self.call("count", "")),
            // There are no orders of several rows where this one is asked for.
            Function::Sum | Function::SumOfFirsts => self.call("sum", &self.value),
            Function::Orders => number(&self.call("uniqExact", order)),
            Function::Distinct => number(&self.call("uniqExact", &self.value)),
            Function::DistinctAnywhere { is_list } => {
                let array = if is_list { "Array" } else { "" };
                if is_merged {
                    self.call(&format!("groupUniqArray{array}"), &self.value)
                } else {
                    number(&self.call(&format!("uniqExact{array}"), &self.value))
                }
            }
            Function::Latest => self.call("max", &self.value),
        }
    }

    /// Over the rows of one order in a group.
    pub(super) fn part(&self, place: &str) -> String {
        match self.function {
            Function::Count => number(&self.call("count", "")),
            Function::Sum => self.call("sum", &self.value),
            Function::SumOfFirsts => self.call("argMin", &format!("{}, {place}", self.value)),
            Function::Orders => match &self.condition {
                Some(condition) => format!("toInt64(max({condition}))"),
                None => String::from("toInt64(1)"),
            },
            Function::Distinct | Function::DistinctAnywhere { is_list: false } => {
                self.call("groupUniqArray", &self.value)
            }
            Function::DistinctAnywhere { is_list: true } => {
                self.call("groupUniqArrayArray", &self.value)
            }
            Function::Latest => self.call("max", &self.value),
        }
    }

    /// Over the orders of a group, of what came of [`Aggregate::part`].
    pub(super) fn sum_of_parts(&self, part: &str, is_merged: bool) -> String {
        match self.function {
            Function::Latest => format!("max({part})"),
            Function::DistinctAnywhere { .. } if is_merged => {
                format!("groupUniqArrayArray({part})")
            }
            Function::Distinct | Function::DistinctAnywhere { .. } => {
                number(&format!("uniqExactArray({part})"))
            }
            Function::Count | Function::Sum | Function::SumOfFirsts | Function::Orders => {
                format!("sum({part})")
            }
        }
    }

    pub(super) fn total(&self, is_merged: bool) -> Total {
        match self.function {
            Function::Latest => Total::Latest,
            Function::DistinctAnywhere { .. } if is_merged => Total::Set,
            _ => Total::Sum,
        }
    }

    /// The function over the rows for which the condition holds.
    fn call(&self, function: &str, arguments: &str) -> String {
        match &self.condition {
            None => format!("{function}({arguments})"),
            Some(condition) if arguments.is_empty() => format!("{function}If({condition})"),
            Some(condition) => format!("{function}If({arguments}, {condition})"),
        }
    }
}

fn number(expression: &str) -> String {
    format!("toInt64({expression})")
}

/// The value of a column in a row.
fn summed(column: Column, draft: &mut Draft) -> String {
    let table = draft.printer.table();
    let own = |draft: &mut Draft, list: &str, of: Table| {
        if table == of { draft.printer.own(list) } else { NONE.to_owned() }
    };
    match column {
        Column::Order(field) => draft.printer.column(field.name()),
        Column::Gross => gross(draft),
        Column::Discounts => format!("arraySum({})", draft.printer.column("coupon_discount")),
        Column::Line(field) => own(draft, &line_column(field), Table::Lines),
        Column::CouponDiscount => own(draft, "coupon_discount", Table::Coupons),
        Column::TaxOfGoods => own(draft, "tax_of_goods", Table::Taxes),
        Column::TaxOfShipping => own(draft, "tax_of_shipping", Table::Taxes),
        Column::TaxOfBoth => {
            let goods = own(draft, "tax_of_goods", Table::Taxes);
            format!("{goods} + {}", own(draft, "tax_of_shipping", Table::Taxes))
        }
    }
}

fn gross(draft: &mut Draft) -> String {
    let parts = [OrderNumber::Net, OrderNumber::Tax, OrderNumber::Shipping];
    let [net, tax, shipping] = parts.map(|part| draft.printer.column(part.name()));
    format!("{net} + {tax} + {shipping}")
}

/// What is counted, and how. Rows of a customer are all on one shard.
fn counted(subject: Subject, draft: &mut Draft) -> (Function, String) {
    let (list, of) = match subject {
        Subject::Customer | Subject::Order => {
            return (Function::Distinct, draft.printer.column("customer_id"));
        }
        Subject::Product => ("line_product_id", Table::Lines),
        Subject::Variation | Subject::VariationOrNone => ("line_variation_id", Table::Lines),
        Subject::Coupon => ("coupon_id", Table::Coupons),
        Subject::TaxRate => ("tax_rate_id", Table::Taxes),
    };
    let is_list = draft.printer.table() != of || subject == Subject::Variation;
    let value = match (draft.printer.table() == of, subject) {
        // A list of one or none, so that none is not counted.
        (true, Subject::Variation) => {
            format!("arrayFilter(x -> x != 0, [{}])", draft.printer.own(list))
        }
        (true, _) => draft.printer.own(list),
        (false, Subject::Variation) => {
            format!("arrayFilter(x -> x != 0, {})", draft.printer.column(list))
        }
        (false, _) => draft.printer.column(list),
    };
    (Function::DistinctAnywhere { is_list }, value)
}

/// Which rows are looked at; none for all.
fn condition(when: When, draft: &mut Draft) -> Option<String> {
    let sign = |draft: &mut Draft| match draft.printer.table() {
        Table::Lines => draft.printer.own(&line_column(LineNumber::Gross)),
        _ => gross(draft),
    };
    match when {
        When::Always => None,
        When::Order => Some(draft.printer.is_order()),
        When::Refund => Some(draft.printer.is_refund()),
        When::Negative => Some(format!("({}) < 0", sign(draft))),
        When::NotNegative => Some(format!("({}) >= 0", sign(draft))),
    }
}
