//! Processor time and memory of processes, read from `/proc`.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// Linux counts processor time in hundredths of a second for programs, whatever its own clock.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of this process so far.
pub(crate) fn own_time() -> Result<Duration> {
    Ok(Stat::read("self")?.time)
}

/// User and system time of a process so far.
pub(crate) fn time_of(pid: u32) -> Result<Duration> {
    Ok(Stat::read(&pid.to_string())?.time)
}

pub(crate) fn parent_of(pid: u32) -> Result<u32> {
    Ok(Stat::read(&pid.to_string())?.parent)
}

/// User and system time of a process, of its children, and of those that have ended.
pub(crate) fn time_of_family(pid: u32) -> Result<Duration> {
    let parent = Stat::read(&pid.to_string())?;
    let mut total = parent.time + parent.ended_children;
    for child in children_of(pid)? {
        // A process may end while we look; the parent then has its time.
        total += Stat::read(&child.to_string()).map(|stat| stat.time).unwrap_or_default();
    }
    Ok(total)
}

/// Processor time of a process so far, to the nanosecond. Threads that have ended are left out.
pub(crate) fn exact_time_of(pid: u32) -> Result<Duration> {
    let mut total = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        // A thread may end while we look.
        let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        let first = text.split_whitespace().next().context("an empty schedstat")?;
        total += Duration::from_nanos(first.parse()?);
    }
    Ok(total)
}

/// Of a process and of its children, to the nanosecond.
pub(crate) fn exact_time_of_family(pid: u32) -> Result<Duration> {
    let mut total = exact_time_of(pid)?;
    for child in children_of(pid)? {
        total += exact_time_of(child).unwrap_or_default();
    }
    Ok(total)
}

fn children_of(pid: u32) -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc")?.flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child =
        |process: &u32| Stat::read(&process.to_string()).is_ok_and(|stat| stat.parent == pid);
    Ok(processes.filter(is_child).collect())
}

struct Stat {
    parent: u32,
    time: Duration,
    ended_children: Duration,
}

impl Stat {
    fn read(process: &str) -> Result<Self> {
        let path = format!("/proc/{process}/stat");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        // The name stands in parentheses and may contain anything, parentheses too.
        let (_, rest) = text.rsplit_once(')').context("no name in /proc/…/stat")?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |index: usize| -> Result<u32> {
            Ok(fields.get(index).context("/proc/…/stat is too short")?.parse()?)
        };
        Ok(Self {
            parent: number(1)?,
            time: TICK * (number(11)? + number(12)?),
            ended_children: TICK * (number(13)? + number(14)?),
        })
    }
}

/// What a process holds in memory, in megabytes of 10^6 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) resident: f64,
    pub(crate) resident_peak: f64,
}

pub(crate) fn memory_of(pid: u32) -> Result<Memory> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let megabytes = |name: &str| -> Result<f64> {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split_whitespace().nth(1));
        let kibibytes: u32 = value.with_context(|| format!("no {name} of {pid}"))?.parse()?;
        Ok(f64::from(kibibytes) * 1024.0 / 1e6)
    };
    Ok(Memory { resident: megabytes("VmRSS:")?, resident_peak: megabytes("VmHWM:")? })
}
