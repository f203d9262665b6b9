//! Moments and choices at random that can be repeated.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

const PAUSE_MS_MAX: u64 = 400;
/// The seed of a run is printed; set this variable to it for the same moments again.
const SEED_VARIABLE: &str = "CRASH_SEED";

/// A repeatable sequence of random numbers.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new() -> Self {
        let given = std::env::var_os(SEED_VARIABLE);
        let given = given.and_then(|text| text.to_str()?.parse().ok());
        // A new hasher is seeded at random.
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        println!("{SEED_VARIABLE}={seed}");
        Self(seed)
    }

    /// The generator named `SplitMix64`.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn pause(&mut self) -> Duration {
        Duration::from_millis(self.next() % PAUSE_MS_MAX)
    }
}
