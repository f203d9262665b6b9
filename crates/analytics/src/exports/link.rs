//! The way to the file of an export: an address that nobody can guess, which ends with the file.
//!
//! What makes it so is a keyed hash of the export's name. It is kept nowhere, so whoever reads the
//! database, its backups or the log cannot download anything.

use contract::rest::form;
use db::Conn;
use db::background_job::{self, JobRow, JobState};
use frame::jobs::REPORT_EXPORT;
use frame::{FileFound, FileSource, Site};
use serde_json::Value;
use shop_rows::report_file;
use types::{Result, Timestamp};

use super::Export;
use super::request::{ExportRequest, KEPT, WrittenFile};

/// The page under which clients know such files.
const PATH: &str = "/wp-admin/";
const ACTION: &str = "woocommerce_admin_download_report_csv";
/// Between the name of the report and that of the export.
const MIDDLE: &str = "-report-export-";
/// Characters of a day, such as 2026-03-31, with which a moment begins.
const DAY_LENGTH: usize = 10;
const START: &str = "wc-";
const PURPOSE: &str = "report export";
const MEDIA_TYPE: &str = "text/csv; charset=utf-8";

/// The address of the file of an export; `home` is that of the site.
pub(super) fn address(site: &Site, home: &str, (report, export_id): (&str, &str)) -> String {
    let token = token(site, report, export_id);
    let name = format!("{START}{report}{MIDDLE}{export_id}");
    format!("{home}{PATH}?action={ACTION}&filename={name}&token={token}")
}

fn token(site: &Site, report: &str, export_id: &str) -> String {
    hex(&site.vault().site_hash(PURPOSE, export_id, report))
}

/// Bytes as letters and digits that an address can have.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What a file is called: its report and the days in it, or the day on which it was asked for.
fn file_name(ordered: &ExportRequest, asked: Timestamp) -> String {
    let day = |name: &str| {
        let text = ordered.args.get(name).and_then(Value::as_str)?.get(..DAY_LENGTH)?;
        text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-').then_some(text)
    };
    let report = &ordered.report;
    match (day("after"), day("before")) {
        (Some(from), Some(until)) => format!("{report}-{from}-to-{until}.csv"),
        (Some(from), None) => format!("{report}-from-{from}.csv"),
        (None, Some(until)) => format!("{report}-to-{until}.csv"),
        (None, None) => {
            let asked = asked.to_string();
            format!("{report}-{}.csv", asked.get(..DAY_LENGTH).unwrap_or_default())
        }
    }
}

/// The job of an export that can be asked for.
pub(super) fn find(
    conn: &mut dyn Conn,
    (report, export_id): (&str, &str),
    now: Timestamp,
) -> Result<Option<(JobRow, ExportRequest)>> {
    let Some(job) = background_job::find(conn, REPORT_EXPORT, export_id)? else { return Ok(None) };
    let ordered: Option<ExportRequest> = serde_json::from_str(&job.arguments).ok();
    let is_alive = job.finished.is_none_or(|finished| now < finished.plus(KEPT));
    Ok(ordered.filter(|ordered| is_alive && ordered.report == report).map(|found| (job, found)))
}

/// Files of exports.
#[derive(Debug)]
pub struct ExportFiles;

impl FileSource for ExportFiles {
    fn may_be_at(&self, path: &str, query: &str) -> bool {
        path.trim_end_matches('/') == PATH.trim_end_matches('/') && query.contains(ACTION)
    }

    fn file_at(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        query: &str,
        now: Timestamp,
    ) -> Result<Option<FileFound>> {
        let query = form::decode(query);
        let text = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or_default();
        let named = text("filename").strip_prefix(START).and_then(|rest| rest.split_once(MIDDLE));
        let Some((report, export_id)) = named else { return Ok(None) };
        let export_id = export_id.strip_suffix(".csv").unwrap_or(export_id);
        // Of a hash that is compared letter by letter, time tells nothing that helps to guess it:
        // both sides are hashed once more.
        let given = site.vault().site_hash(PURPOSE, text("token"), "compared");
        let right = site.vault().site_hash(PURPOSE, &token(site, report, export_id), "compared");
        if text("action") != ACTION || given != right || Export::named(report).is_none() {
            return Ok(None);
        }
        let Some((job, ordered)) = find(conn, (report, export_id), now)? else { return Ok(None) };
        let written: Option<WrittenFile> =
            job.result.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let Some(written) = written.filter(|_| job.state == JobState::Done) else {
            return Ok(None);
        };
        Ok(Some(FileFound {
            name: file_name(&ordered, job.created),
            media_type: MEDIA_TYPE,
            key: export_id.to_owned(),
            parts: written.parts,
            bytes: written.bytes,
        }))
    }

    fn part(&self, conn: &mut dyn Conn, key: &str, number: i64) -> Result<Option<Vec<u8>>> {
        report_file::part(conn, key, number)
    }
}
