//! Medians, percentiles and conversions for measured values.

use std::time::Duration;

/// The middle of the values, the upper one of two; zero if there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The value that `per_mille` of the sorted ones do not exceed.
pub(crate) fn percentile(sorted: &[Duration], per_mille: usize) -> Duration {
    let rank = (sorted.len() * per_mille).div_ceil(1000).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or_default()
}

pub(crate) fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Microseconds of `total` for each of `count`.
pub(crate) fn microseconds_each(total: Duration, count: usize) -> f64 {
    total.as_secs_f64() * 1e6 / float(count.max(1))
}

/// The median of groups that are counted by size.
pub(crate) fn median_size(counts: &[(usize, usize)]) -> usize {
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let mut seen = 0;
    for (size, count) in counts {
        seen += count;
        if seen * 2 >= total {
            return *size;
        }
    }
    1
}
