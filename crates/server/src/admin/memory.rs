//! What the process holds in memory, for `GET /metrics`: every cache with its budget.

use std::fmt::Write as _;
use std::sync::Arc;

use frame::{CacheSize, Site};

use super::{Watched, write_head};

/// Writes how full each cache is and how full it may be, what the facts of the reports take, and
/// what the process has in memory altogether.
pub(super) fn write(text: &mut String, watched: &[Watched], sites: &[Arc<Site>]) {
    let mut caches = Vec::new();
    let (mut facts_bytes, mut facts_lag) = (String::new(), String::new());
    for site in sites {
        caches.extend(site.caches().into_iter().map(|cache| (site.environment(), cache)));
    }
    for (platform, facts) in watched {
        let Some(facts) = facts else { continue };
        let (environment, snapshot) = (platform.environment, facts.snapshot());
        let (bytes, bytes_max) = snapshot.kept_bytes();
        caches.push((environment, CacheSize { name: "report_parts", bytes, bytes_max }));
        let (bytes, bytes_max) = facts.customers().bytes();
        caches.push((environment, CacheSize { name: "customers", bytes, bytes_max }));
        let labels = format!("environment=\"{environment}\"");
        let _ = writeln!(facts_bytes, "boardwalk_facts_bytes{{{labels}}} {}", snapshot.bytes());
        if facts.cluster().is_some() {
            // Without facts, reports are as late as can be.
            let lag = facts.lag().map_or(String::from("+Inf"), |lag| lag.as_secs_f64().to_string());
            let _ = writeln!(facts_lag, "boardwalk_facts_lag_seconds{{{labels}}} {lag}");
        }
    }
    let (mut held, mut budgets) = (String::new(), String::new());
    for (environment, CacheSize { name, bytes, bytes_max }) in &caches {
        let labels = format!("environment=\"{environment}\",cache=\"{name}\"");
        let _ = writeln!(held, "boardwalk_cache_bytes{{{labels}}} {bytes}");
        let _ = writeln!(budgets, "boardwalk_cache_budget_bytes{{{labels}}} {bytes_max}");
    }
    for (platform, _) in watched {
        // How much of it is in use, SQLite does not tell.
        let Some(bytes_max) = platform.store.page_cache_bytes_max() else { continue };
        let labels = format!("environment=\"{}\",cache=\"sqlite_pages\"", platform.environment);
        let _ = writeln!(budgets, "boardwalk_cache_budget_bytes{{{labels}}} {bytes_max}");
    }
    write_head(text, "cache_bytes", "What a cache holds");
    text.push_str(&held);
    write_head(text, "cache_budget_bytes", "What a cache may hold");
    text.push_str(&budgets);
    write_head(text, "facts_bytes", "The columns that reports are answered from");
    text.push_str(&facts_bytes);
    write_head(text, "facts_lag_seconds", "By how much facts in ClickHouse are behind the records");
    text.push_str(&facts_lag);
    if let Some(bytes) = resident_bytes() {
        write_head(text, "resident_memory_bytes", "Memory of the process");
        let _ = writeln!(text, "boardwalk_resident_memory_bytes {bytes}");
    }
}

/// None where the system does not tell it in this way.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_process_is_told() {
        assert!(resident_bytes().unwrap() > 1_000_000);
    }
}
