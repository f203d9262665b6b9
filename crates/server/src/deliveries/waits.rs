//! How long to wait between attempts: longer each time, and not the same for everybody, so that an
//! endpoint that comes back is not run over by all that waited for it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

const FACTOR: u32 = 4;
/// Waits that grow by themselves are longer or shorter by up to a fifth.
const USUAL_SPREAD_PER_MILLE: u32 = 200;
/// Waits that somebody chose are longer or shorter by up to a tenth.
const CHOSEN_SPREAD_PER_MILLE: u32 = 100;

/// The wait after an attempt at something that failed, between the shortest and the longest; the
/// first attempt is 1.
pub(crate) fn after((first, longest): (Duration, Duration), attempt: i64, id: i64) -> Duration {
    let steps = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0);
    let factor = FACTOR.saturating_pow(steps);
    spread(first.saturating_mul(factor).min(longest), USUAL_SPREAD_PER_MILLE, attempt, id)
}

/// About as long as was chosen.
pub(crate) fn about(chosen: Duration, attempt: i64, id: i64) -> Duration {
    spread(chosen, CHOSEN_SPREAD_PER_MILLE, attempt, id)
}

fn spread(whole: Duration, per_mille: u32, attempt: i64, id: i64) -> Duration {
    let mut hasher = DefaultHasher::new();
    (id, attempt).hash(&mut hasher);
    let span = u64::from(2 * per_mille + 1);
    let shift = u32::try_from(hasher.finish() % span).unwrap_or(0);
    whole.saturating_mul(1000 - per_mille + shift) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: (Duration, Duration) = (Duration::from_secs(30), Duration::from_hours(4));

    #[test]
    fn waits_grow_and_differ_and_end() {
        for (attempt, seconds) in [(1, 30), (2, 120), (3, 480), (4, 1920), (60, 14_400)] {
            let whole = Duration::from_secs(seconds);
            for delivery_id in 0..50 {
                let wait = after(BOUNDS, attempt, delivery_id);
                assert!(wait >= whole * 8 / 10 && wait <= whole * 12 / 10, "{attempt}: {wait:?}");
            }
        }
        let chosen = Duration::from_secs(100);
        for delivery_id in 0..50 {
            let wait = about(chosen, 1, delivery_id);
            assert!(wait >= chosen * 9 / 10 && wait <= chosen * 11 / 10, "{wait:?}");
        }
        let different: std::collections::HashSet<Duration> =
            (0..50).map(|delivery_id| after(BOUNDS, 1, delivery_id)).collect();
        assert!(different.len() > 25);
    }
}
