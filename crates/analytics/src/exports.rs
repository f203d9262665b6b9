//! Exports: reports as files. A report is read page by page over one state of the facts, in the
//! name of whoever asked for it, and written as its [`columns`] say.
//!
//! [`routes`] starts an export and tells how far it is, [`job`] writes it in the background,
//! [`link`] leads to the file. **Who is bound to some sales exports those**, since the rows come
//! from the same report that they could read page by page.

pub mod columns;
pub mod csv;
pub mod file;
pub mod job;
pub mod link;
mod parquet_file;
mod quota;
mod request;
pub mod routes;

use std::sync::{Arc, Mutex};

use contract::rest::{Args, Body, Params, Reply, Sources, Stop};
use db::{Conn, Database};
use frame::{Call, Site};
use serde_json::{Map, Value, json};
use site_rows::user::UserRow;
use types::{Error, Result, Timestamp};

use crate::context::{ReportContext, may_view};
use crate::current::Facts;
use crate::reports::lists::customers::{self, CustomersRoute};
use crate::reports::{lists, stats};
use columns::{Cell, Column, More};

/// Rows that are read together.
pub const ROWS_AT_ONCE: i64 = 500;

type Run = fn(&ReportContext, &mut Call<'_>) -> Result<Reply, Stop>;

/// A report that can be exported.
pub struct Export {
    /// As it is called in addresses.
    pub name: &'static str,
    /// As people call it.
    pub title: &'static str,
    args: fn() -> Args,
    run: Run,
    columns: &'static [Column],
    /// Columns that only a shop that counts its stock has.
    of_stock: &'static [Column],
}

impl std::fmt::Debug for Export {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

const NO_COLUMNS: &[Column] = &[];

/// All exports.
pub static ALL: &[Export] = &[
    Export {
        name: "orders",
        title: "Orders",
        args: lists::orders::args,
        run: lists::orders::list,
        columns: columns::ORDERS,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "revenue",
        title: "Revenue",
        args: stats::orders::REVENUE.args,
        run: |reports, call| stats::orders::REVENUE.run(reports, call),
        columns: columns::REVENUE,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "products",
        title: "Products",
        args: lists::products::args,
        run: lists::products::list,
        columns: columns::PRODUCTS,
        of_stock: columns::STOCK_OF_PRODUCTS,
    },
    Export {
        name: "variations",
        title: "Variations",
        args: lists::variations::args,
        run: lists::variations::list,
        columns: columns::VARIATIONS,
        of_stock: columns::STOCK_OF_VARIATIONS,
    },
    Export {
        name: "categories",
        title: "Categories",
        args: lists::categories::args,
        run: lists::categories::list,
        columns: columns::CATEGORIES,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "coupons",
        title: "Coupons",
        args: lists::coupons::args,
        run: lists::coupons::list,
        columns: columns::COUPONS,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "taxes",
        title: "Taxes",
        args: lists::taxes::args,
        run: lists::taxes::list,
        columns: columns::TAXES,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "customers",
        title: "Customers",
        args: customers::args::report,
        run: |reports, call| customers::list(reports, call, CustomersRoute::Report),
        columns: columns::CUSTOMERS,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "stock",
        title: "Stock",
        args: lists::stock::args,
        run: lists::stock::list,
        columns: columns::STOCK,
        of_stock: NO_COLUMNS,
    },
    Export {
        name: "downloads",
        title: "Downloads",
        args: lists::downloads::args,
        run: lists::downloads::list,
        columns: columns::DOWNLOADS,
        of_stock: NO_COLUMNS,
    },
];

/// A page of an export.
#[derive(Debug)]
pub struct Page {
    pub rows: Vec<Vec<Cell>>,
    /// Rows of all pages, as far as the report can tell.
    pub total: i64,
    pub columns: Vec<&'static Column>,
    /// Decimals of amounts.
    pub decimals: usize,
}

impl Export {
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|export| export.name == name)
    }

    /// The parameters of the report itself, checked as it checks them.
    pub fn accept(&self, asked: &Map<String, Value>) -> Result<Params, Stop> {
        let compiled = (self.args)().compile().map_err(Error::internal)?;
        let sources = Sources::default().with_json(Some(Value::Object(asked.clone())));
        let mut params = contract::rest::accept(&compiled, sources)?;
        // A file has no column for segments, so they are not counted.
        params.remove("segmentby");
        params.set("extended_info", json!(true));
        params.set("per_page", json!(ROWS_AT_ONCE));
        Ok(params)
    }

    /// A page of the report as its caller sees it.
    pub fn page(&self, reports: &ReportContext, call: &mut Call<'_>) -> Result<Page, Stop> {
        may_view(call)?;
        let reply = (self.run)(reports, call)?;
        let total = reply.headers.iter().find(|(name, _)| *name == "x-wp-total");
        let total = total.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
        let rows = match reply.body {
            Body::Json(Value::Array(rows)) => rows,
            // A report over time has a row for each interval.
            Body::Json(mut body) => match body.get_mut("intervals").map(Value::take) {
                Some(Value::Array(rows)) => rows,
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let more = More::of(self, call, &rows)?;
        let options = call.options();
        let of_stock = if options.is_on("woocommerce_manage_stock") { self.of_stock } else { &[] };
        let columns: Vec<&Column> = self.columns.iter().chain(of_stock).collect();
        let cells = |row: &Value| columns.iter().map(|column| column.cell(row, &more)).collect();
        let decimals = options.integer("woocommerce_price_num_decimals");
        Ok(Page {
            rows: rows.iter().map(cells).collect(),
            total,
            decimals: usize::try_from(decimals).unwrap_or(2).min(6),
            columns,
        })
    }
}

/// Reads an export page by page: one state of the facts, whatever changes meanwhile.
#[derive(Clone, Debug)]
pub struct Reading {
    pub export: &'static Export,
    reports: Arc<ReportContext>,
    site: Arc<Site>,
    params: Params,
    reader: Reader,
    now: Timestamp,
}

/// In whose name a report is read.
#[derive(Clone, Debug)]
pub enum Reader {
    /// A user, as they are when a page is read.
    User(i64),
    /// Whoever runs the installation.
    Operator(Box<UserRow>),
}

impl Reading {
    pub fn new(
        export: &'static Export,
        site: &Arc<Site>,
        reports: &ReportContext,
        asked: &Map<String, Value>,
        (reader, now): (Reader, Timestamp),
    ) -> Result<Self, Stop> {
        let params = export.accept(asked)?;
        let reports = Arc::new(reports.pinned());
        Ok(Self { export, reports, site: Arc::clone(site), params, reader, now })
    }

    /// The page of this number, from 1 on. Meant for [`Database::read`].
    pub fn page(&self, conn: &mut dyn Conn, number: i64) -> Result<Page> {
        let user = match &self.reader {
            Reader::Operator(user) => (**user).clone(),
            Reader::User(user_id) => site_rows::user::get(conn, *user_id)?
                .ok_or_else(|| Error::not_found("the user who requested the export was deleted"))?,
        };
        let mut params = self.params.clone();
        params.set("page", json!(number));
        let read = |call: &mut Call<'_>| self.export.page(&self.reports, call);
        let read = self.site.call_by(conn, user, params, self.now, read)?;
        read.map_err(|refusal| Error::invalid(refusal.message.into_owned()))
    }

    pub fn store(&self) -> &Database {
        self.site.store()
    }
}

impl ReportContext {
    /// The same over the facts of now, for good.
    fn pinned(&self) -> Self {
        let facts = if self.facts.cluster().is_some() {
            // What is not in memory is read as it is when a page is.
            Arc::clone(&self.facts)
        } else {
            let facts = Facts::default();
            facts.publish((*self.facts.snapshot()).clone());
            Arc::new(facts)
        };
        Self {
            facts,
            shop: self.shop,
            settings: self.settings.clone(),
            base: self.base.clone(),
            waited: Mutex::default(),
        }
    }
}
