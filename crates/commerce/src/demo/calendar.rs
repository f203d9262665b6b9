//! When orders come: more of them as the shop grows, by season, weekday and hour of the site's own
//! time, and while a campaign runs. The number of orders is met exactly.

use frame::Options;
use frame::dates;
use types::Timestamp;

use super::campaigns::CAMPAIGNS;
use super::dice::{Dice, Stream};

const SECOND: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;
pub(super) const DAY: i64 = DAY_SECONDS * SECOND;

/// How much is bought in the middle of each month, in thousandths.
const SEASON: [u64; 12] = [820, 800, 880, 940, 1_000, 1_090, 1_140, 1_060, 950, 990, 1_260, 1_480];
/// How much is bought on each day of the week, Thursday first as the first of 1970 was one.
const WEEK: [u64; 7] = [990, 1_070, 1_290, 1_180, 940, 930, 960];
/// How much is bought in each hour of the day.
const HOURS: [u64; 24] =
    [7, 4, 3, 2, 2, 4, 11, 23, 38, 52, 62, 67, 71, 67, 60, 58, 59, 63, 71, 80, 83, 70, 42, 20];
/// How large the shop is on the first and on the last day, in thousandths.
const GROWTH: [u64; 2] = [620, 1_380];
/// How much a day differs from what it should be, in thousandths.
const WHIM: i64 = 140;
/// How often a moment is drawn again that lies in the future.
const DRAWS_MAX: usize = 64;

/// A day of the site, with what is bought on it.
#[derive(Clone, Debug)]
pub(super) struct Day {
    /// Its midnight, in the site's time as if it were UTC.
    start: i64,
    pub(super) year: i64,
    pub(super) month: i64,
    /// The campaign that runs, as a place in [`CAMPAIGNS`].
    pub(super) campaign: Option<usize>,
    orders: u64,
    number: u64,
}

/// The days that end with the given moment, with the orders spread over them.
pub(super) fn days(
    options: &Options,
    seed: u64,
    (count, orders): (u32, u64),
    until: Timestamp,
) -> Vec<Day> {
    let now = options.local(until).as_micros();
    let today = now.div_euclid(DAY);
    let passed = now.rem_euclid(DAY).div_euclid(SECOND);
    let first = today - i64::from(count.max(1)) + 1;
    let mut days: Vec<Day> = (first..=today).map(day).collect();
    let weigh = |(day, place): (&Day, u64)| {
        let growth = GROWTH[0] + (GROWTH[1] - GROWTH[0]) * place / u64::from(count.max(1));
        (weight(day, seed) * growth / 1_000).max(1)
    };
    let mut weights: Vec<u64> = days.iter().zip(0..).map(weigh).collect();
    if let Some(last) = weights.last_mut() {
        *last = (*last * passed_share(passed) / 1_000).max(1);
    }
    let whole: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (mut sum, mut given) = (0_u128, 0_u64);
    for (day, weight) in days.iter_mut().zip(&weights) {
        sum += u128::from(*weight);
        let due = u64::try_from(u128::from(orders) * sum / whole.max(1)).unwrap_or(orders);
        day.orders = due - given;
        given = due;
    }
    days
}

/// How much of a day's business is done after so many seconds, in thousandths.
fn passed_share(seconds: i64) -> u64 {
    let seconds = u64::try_from(seconds).unwrap_or_default();
    let whole: u64 = HOURS.iter().sum();
    let done = HOURS.iter().zip(0_u64..).map(|(weight, hour)| {
        let within = seconds.saturating_sub(hour * 3_600).min(3_600);
        weight * within
    });
    done.sum::<u64>() * 1_000 / (whole * 3_600)
}

fn day(number: i64) -> Day {
    let start = number * DAY;
    let text = dates::written(Timestamp::from_micros(start));
    let part = |from: usize, to: usize| {
        text.get(from..to).and_then(|digits| digits.parse::<i64>().ok()).unwrap_or(1)
    };
    let (year, month) = (part(0, 4), part(5, 7));
    let campaign = CAMPAIGNS.iter().position(|campaign| {
        let (month, day) = (campaign.month, campaign.day);
        (0..campaign.days).any(|after| {
            // The day on which it would have begun.
            let began = dates::written(Timestamp::from_micros(start - after * DAY));
            began.get(5..10) == Some(&*format!("{month:02}-{day:02}"))
        })
    });
    Day { start, year, month, campaign, orders: 0, number: number.unsigned_abs() }
}

/// What is bought on a day, wherever in the shop's history it lies.
fn weight(day: &Day, seed: u64) -> u64 {
    let at = |list: &[u64], place: i64| {
        let length = i64::try_from(list.len()).unwrap_or(1);
        let place = usize::try_from(place.rem_euclid(length)).unwrap_or_default();
        list.get(place).copied().unwrap_or(1_000)
    };
    let text = dates::written(Timestamp::from_micros(day.start));
    let of_month: i64 = text.get(8..10).and_then(|text| text.parse().ok()).unwrap_or(15);
    // From the middle of one month to that of the next in equal steps.
    let (from, into) = if of_month >= 15 {
        (day.month - 1, of_month - 15)
    } else {
        (day.month - 2, of_month + 15)
    };
    let into = u64::try_from(into.clamp(0, 30)).unwrap_or_default();
    let season = (at(&SEASON, from) * (30 - into) + at(&SEASON, from + 1) * into) / 30;
    let week = at(&WEEK, day.start.div_euclid(DAY));
    let boost = day.campaign.and_then(|place| CAMPAIGNS.get(place));
    let boost = boost.map_or(1_000, |campaign| campaign.boost);
    let mut dice = Dice::new(seed, Stream::Days, day.number);
    let whim = u64::try_from(1_000 + dice.between(-WHIM, WHIM)).unwrap_or(1_000);
    season * week / 1_000 * boost / 1_000 * whim / 1_000
}

/// When an order is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) at: Timestamp,
    /// The hour of the site's time of day.
    pub(super) hour: i64,
}

impl Day {
    /// The moments of the day's orders, in their order.
    pub(super) fn moments(&self, options: &Options, seed: u64, until: Timestamp) -> Vec<Moment> {
        let mut dice = Dice::new(seed, Stream::Moments, self.number);
        let left = options.local(until).as_micros() - self.start;
        let end = left.div_euclid(SECOND).clamp(1, DAY_SECONDS);
        let mut seconds: Vec<i64> = (0..self.orders).map(|_| second(&mut dice, end)).collect();
        seconds.sort_unstable();
        let moment = |second: i64| {
            let local = Timestamp::from_micros(self.start + second * SECOND);
            Moment { at: options.from_local(local).min(until), hour: second / 3_600 }
        };
        seconds.into_iter().map(moment).collect()
    }

    /// The last moment of the campaign that runs, as the site writes it.
    pub(super) fn campaign_ends(&self) -> Option<String> {
        let campaign = CAMPAIGNS.get(self.campaign?)?;
        let (year, month, day) = (self.year, campaign.month, campaign.day);
        let begins = Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z"))?;
        let ends = begins.as_micros() + campaign.days * DAY;
        Some(dates::written(Timestamp::from_micros(ends)))
    }
}

/// A second of the day before the end.
fn second(dice: &mut Dice, end: i64) -> i64 {
    for _ in 0..DRAWS_MAX {
        let hour = i64::try_from(dice.weighted(HOURS.iter().copied())).unwrap_or_default();
        let second = hour * 3_600 + dice.between(0, 3_599);
        if second < end {
            return second;
        }
    }
    dice.between(0, end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(days: u32, orders: u64, until: &str) -> Vec<Timestamp> {
        let (options, until) = (Options::default(), Timestamp::parse(until).unwrap());
        let days = super::days(&options, 11, (days, orders), until);
        days.iter().flat_map(|day| day.moments(&options, 11, until)).map(|one| one.at).collect()
    }

    #[test]
    fn all_orders_lie_in_the_period_in_their_order() {
        for (days, orders, until) in [
            (30, 1_000, "2026-11-15T08:30:00Z"),
            (1, 50, "2026-01-01T00:00:01Z"),
            (400, 7, "2026-02-28T23:59:59Z"),
            (10, 0, "2026-02-28T23:59:59Z"),
        ] {
            let moments = made(days, orders, until);
            assert_eq!(u64::try_from(moments.len()), Ok(orders), "{days} {until}");
            assert!(moments.is_sorted());
            let until = Timestamp::parse(until).unwrap();
            let first = until.as_micros() - i64::from(days) * DAY;
            assert!(moments.iter().all(|at| at.as_micros() > first && *at <= until));
        }
    }

    #[test]
    fn weekends_evenings_and_decembers_are_busy() {
        let moments = made(730, 40_000, "2026-12-31T23:59:59Z");
        let count = |is: &dyn Fn(&str, i64) -> bool| {
            let fits = |at: &&Timestamp| is(&at.to_string(), at.as_micros().div_euclid(DAY));
            moments.iter().filter(fits).count()
        };
        let weekend = count(&|_, day| matches!(day.rem_euclid(7), 2 | 3));
        let evening = count(&|text, _| matches!(&text[11..13], "19" | "20"));
        let night = count(&|text, _| matches!(&text[11..13], "02" | "03"));
        let december = count(&|text, _| text.starts_with("2026-12"));
        let june = count(&|text, _| text.starts_with("2026-06"));
        assert!((12_500..14_500).contains(&weekend), "{weekend} of 40000");
        assert!(evening > 20 * night, "{evening} {night}");
        assert!(december * 10 > june * 12, "{december} {june}");
    }

    #[test]
    fn campaigns_run_on_their_days() {
        let options = Options::default();
        let until = Timestamp::parse("2026-12-31T12:00:00Z").unwrap();
        let days = days(&options, 1, (365, 0), until);
        let running = days.iter().filter(|day| day.campaign.is_some()).count();
        let planned: i64 = CAMPAIGNS.iter().map(|campaign| campaign.days).sum();
        assert_eq!(i64::try_from(running), Ok(planned));
        let first = days.iter().find(|day| day.campaign == Some(3)).unwrap();
        assert_eq!(first.campaign_ends().as_deref(), Some("2026-12-01T00:00:00"));
    }
}
