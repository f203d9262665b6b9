//! `boardwalk backup` and `boardwalk restore`.

use std::path::Path;

use types::Result;

use crate::args::Common;
use crate::config::Config;
use crate::output::Printer;

pub(crate) fn backup(_: &Config, _: &Common, _: &Path, _: &Printer) -> Result<()> {
    Ok(())
}

pub(crate) fn restore(_: &Config, _: &Common, _: &Path, _: &Printer) -> Result<()> {
    Ok(())
}
