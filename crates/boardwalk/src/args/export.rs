//! What can be typed after `boardwalk export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Export a report to a file
    Report(ExportReport),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportReport {
    /// Report to export: orders, revenue, products, variations, categories, coupons, taxes,
    /// customers, stock or downloads
    #[arg(value_name = "TYPE")]
    pub(crate) report: String,
    /// File format
    #[arg(long, value_enum, default_value_t = ReportFormat::Csv)]
    pub(crate) format: ReportFormat,
    /// Output file; must not exist [default: TYPE.FORMAT in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Start of the period, such as 2026-03-01T00:00:00
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<String>,
    /// End of the period
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// Additional report parameter, such as interval=month; separate list items with commas
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Csv,
    Json,
    Parquet,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
