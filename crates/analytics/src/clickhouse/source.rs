//! Which rows a question is about, as a statement: orders of a time that the caller may see, with
//! whether their customer had bought before, one row for each line, coupon or tax if the question
//! is about those, and the filter over all of it.

use super::filter::{PLACE, Printer, RETURNING, own_name};
use super::sql::{all, is_text_among, joined, not, ordered};
use crate::facts::OrderText;
use crate::query::{DateColumn, Filter, Scope, Span, Table};

/// Expressions about a row, by the names that groups and measures know them by.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) printer: Printer,
    expressions: Vec<String>,
}

impl Draft {
    pub(super) fn of(table: Table) -> Self {
        Self { printer: Printer::new(table), expressions: Vec::new() }
    }

    /// The name of the expression.
    pub(super) fn add(&mut self, expression: &str) -> String {
        let name = format!("e{}", self.expressions.len());
        self.expressions.push(format!("{expression} AS {name}"));
        name
    }

    pub(super) fn names(&self) -> String {
        joined((0..self.expressions.len()).map(|number| format!("e{number}")), ", ")
    }
}

/// What rows of orders are read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    /// The table of orders.
    pub(super) orders: &'a str,
    /// Statuses of orders that do not make somebody a customer who returns.
    pub(super) excluded: &'a [String],
    pub(super) scope: &'a Scope,
    pub(super) date: DateColumn,
    pub(super) span: Span,
    pub(super) filter: &'a Filter,
}

impl Rows<'_> {
    /// The expressions about each row that counts.
    pub(super) fn select(&self, draft: Draft) -> String {
        let Draft { mut printer, expressions } = draft;
        let (of_orders, of_rows) = self.conditions(&mut printer);
        let mut facts = self.facts(&mut printer, of_orders);
        if printer.needs_returning() {
            facts = self.with_returning(&facts, &printer);
        }
        let lists = printer.own_lists().iter();
        let mut lists: Vec<String> =
            lists.map(|list| format!("{list} AS {}", own_name(list))).collect();
        // Rows are unfolded also where nothing is asked of them but how many there are.
        if let Some(leading) = leading_list(printer.table())
            && (lists.is_empty() || printer.needs_place())
        {
            lists.push(format!("arrayEnumerate({leading}) AS {PLACE}"));
        }
        let lists = match joined(lists, ", ") {
            lists if lists.is_empty() => lists,
            lists => format!(" ARRAY JOIN {lists}"),
        };
        let expressions = joined(&expressions, ", ");
        format!("SELECT {expressions} FROM ({facts}){lists} WHERE {of_rows}")
    }

    /// The filter in two parts: what can be asked of an order where it is read, before anything is
    /// unfolded or joined, and the rest.
    fn conditions(&self, printer: &mut Printer) -> (Vec<String>, String) {
        let parts = match self.filter {
            Filter::All(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let (mut of_orders, mut of_rows) = (Vec::new(), Vec::new());
        for part in parts {
            let mut own = Printer::new(printer.table());
            let condition = own.filter(part);
            if own.is_about_orders() {
                of_orders.push(condition);
            } else {
                of_rows.push(printer.filter(part));
            }
        }
        (of_orders, all(of_rows))
    }

    /// Orders and refunds within the span and the scope for which these conditions hold.
    fn facts(&self, printer: &mut Printer, mut conditions: Vec<String>) -> String {
        if let Some(list) = leading_list(printer.table()) {
            printer.column(list);
        }
        if printer.needs_returning() {
            for column in ["customer_id", "order_id", "parent_id", "created"] {
                printer.column(column);
            }
        }
        // Read in any case, so that there is at least one column.
        let date = printer.column(date_column(self.date));
        // Nothing is a date, and earlier than all others.
        let from = self.span.from.as_micros().max(i64::MIN + 1);
        let until = self.span.until.as_micros();
        let scope = Printer::new(printer.table()).scope(self.scope);
        let within = format!("{date} >= {from} AND {date} < {until}");
        conditions.extend([String::from("deleted = 0"), within, scope]);
        let columns = joined(printer.columns(), ", ");
        format!("SELECT {columns} FROM {} FINAL WHERE {}", self.orders, all(conditions))
    }

    /// The same with whether the customer had bought before. A refund is of a new customer if it is
    /// of their first order that counts, or was made before it.
    fn with_returning(&self, facts: &str, printer: &Printer) -> String {
        let columns = joined(printer.columns(), ", ");
        let firsts = self.first_orders();
        let is_late = "has_first = 1 AND parent_id != first_order_id AND \
                       (created > first_created OR \
                       (created = first_created AND order_id > first_order_id))";
        format!(
            "SELECT {columns}, ({is_late}) AS {RETURNING} FROM ({facts}) AS facts \
             ANY LEFT JOIN ({firsts}) AS firsts USING customer_id"
        )
    }

    /// The first order of each customer that counts, whoever may see it.
    fn first_orders(&self) -> String {
        let status = is_text_among(OrderText::Status.name(), self.excluded);
        let counts =
            all([String::from("deleted = 0 AND parent_id = 0 AND customer_id != 0"), not(&status)]);
        // Of two orders of one moment the one with the lower id is first. ClickHouse compares texts
        // in a third of the time that it takes for pairs.
        let place = [ordered("created"), ordered("order_id")].join(", ");
        format!(
            "SELECT customer_id, min(created) AS first_created, \
             argMin(order_id, concat({place})) AS first_order_id, toUInt8(1) AS has_first \
             FROM {} FINAL WHERE {counts} GROUP BY customer_id",
            self.orders
        )
    }
}

pub(super) fn date_column(date: DateColumn) -> &'static str {
    match date {
        DateColumn::Created => "created",
        DateColumn::Paid => "paid",
        DateColumn::Completed => "completed",
    }
}

/// A list of which an order has one element for each row of the table.
fn leading_list(table: Table) -> Option<&'static str> {
    match table {
        Table::Lines => Some("line_product_id"),
        Table::Coupons => Some("coupon_id"),
        Table::Taxes => Some("tax_rate_id"),
        Table::Orders | Table::Downloads => None,
    }
}
