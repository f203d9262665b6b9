//! What the reviews of a product come to. **A change of a review refreshes it in the same
//! transaction.**

use db::Conn;
use shop_rows::product;
use shop_rows::review::{self, ReviewFilter};
use types::{Amount, Result};

/// The status of reviews that readers see.
const APPROVED: &str = "approved";

/// Counts the stars of a product's approved reviews again; reviews without stars do not count.
pub(crate) fn refresh(conn: &mut dyn Conn, product_id: i64) -> Result<()> {
    let filter = ReviewFilter {
        products: vec![product_id],
        statuses: vec![APPROVED.to_owned()],
        ..ReviewFilter::default()
    };
    let counts = review::count_by_rating(conn, &filter)?;
    let rated = counts.into_iter().filter(|(stars, _)| *stars > 0);
    let (stars, count) = rated.fold((0_i64, 0_i64), |(stars, count), (each, times)| {
        (stars.saturating_add(each.saturating_mul(times)), count.saturating_add(times))
    });
    product::update_rating(conn, product_id, average(stars, count), count).map(drop)
}

/// The average to two decimals, halves up.
fn average(stars: i64, count: i64) -> Amount {
    if count == 0 {
        return Amount::default();
    }
    let hundredths = (stars.saturating_mul(200).saturating_add(count)).div_euclid(count * 2);
    let text = format!("{}.{:02}", hundredths.div_euclid(100), hundredths.rem_euclid(100));
    Amount::parse(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_have_two_decimals() {
        for (stars, count, expected) in
            [(8, 2, "4.00"), (0, 0, "0.00"), (14, 3, "4.67"), (1, 8, "0.13"), (9, 4, "2.25")]
        {
            assert_eq!(average(stars, count).to_text(2), expected, "{stars}/{count}");
        }
    }
}
