//! What can be typed after `boardwalk export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Write a report into a file
    Report(ExportReport),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportReport {
    /// Which report: orders, revenue, products, variations, categories, coupons, taxes, customers,
    /// stock or downloads
    #[arg(value_name = "TYPE")]
    pub(crate) report: String,
    /// What the file is made of
    #[arg(long, value_enum, default_value_t = ReportFormat::Csv)]
    pub(crate) format: ReportFormat,
    /// The file to write; it must not exist [default: TYPE.FORMAT in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only what happened at this time or later, such as 2026-03-01T00:00:00
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<String>,
    /// Only what happened at this time or earlier
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// Another parameter of the report, such as interval=month; lists have commas
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
    let (name, value) = text.split_once('=').ok_or("write a name, = and a value")?;
    Ok((name.to_owned(), value.to_owned()))
}
