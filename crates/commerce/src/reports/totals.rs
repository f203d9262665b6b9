//! How many records there are: orders by status, products and coupons by kind, customers who paid
//! and who did not, reviews by rating.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Reply, Schema, Stop};
use db::filter::Page;
use frame::Action;
use frame::Call;
use frame::action::read;
use serde_json::{Value, json};
use shop_rows::coupon::{self, CouponFilter};
use shop_rows::order::{self, OrderKind};
use shop_rows::product::{self, ProductFilter};
use shop_rows::review::{self, ReviewFilter};
use site_rows::user::{self, UserFilter};
use types::{Result, Role};

use super::{may_view, shown};
use crate::{orders, products, reviews};

/// Stars of the best rating.
const RATING_MAX: i64 = 5;
/// Kinds of discount with how people read them.
const COUPON_KINDS: &[(&str, &str)] = &[
    ("percent", "Percentage discount"),
    ("fixed_cart", "Fixed cart discount"),
    ("fixed_product", "Fixed product discount"),
];
/// A list of which only the number counts.
const NONE_OF_THEM: Page = Page { offset: 0, limit: 0 };

/// Something that is counted: its name in lists, how people read it, and the number.
type Counted = (String, String, i64);
type Count = fn(&mut Call<'_>) -> Result<Vec<Counted>>;

/// What is counted, and the word for it in the schema.
const COUNTS: [(&str, &str, Count); 5] = [
    ("orders", "report_order_total", of_orders),
    ("products", "report_product_total", of_products),
    ("customers", "report_customer_total", of_customers),
    ("coupons", "report_coupon_total", of_coupons),
    ("reviews", "report_review_total", of_reviews),
];

pub(super) fn routes(namespace: &str) -> impl Iterator<Item = Route<Action>> {
    COUNTS.into_iter().map(move |(name, word, count)| {
        let item = Item::new(
            word,
            Schema::object([
                ("slug", shown(Schema::text(), "Slug.")),
                ("name", shown(Schema::text(), "Name.")),
                ("total", shown(Schema::text(), "Total.").shown_as(Schema::integer())),
            ]),
        );
        let list = move |call: &mut Call<'_>| -> Result<Reply, Stop> {
            let body = |(slug, name, total): Counted| {
                json!({ "slug": slug, "name": name, "total": total })
            };
            Ok(Reply::new(count(call)?.into_iter().map(body).collect::<Vec<Value>>()))
        };
        Route::at(namespace, &format!("/reports/{name}/totals"))
            .on(READ, Args::new().arg("context", item.context_arg()), read(may_view, list))
            .lists()
            .schema(item.document())
    })
}

fn of_orders(call: &mut Call<'_>) -> Result<Vec<Counted>> {
    let counts = order::count_by_status(call.conn()?, OrderKind::Order)?;
    let count = |status: &str| counts.iter().find(|(found, _)| found == status);
    let counted = |(slug, name): &(&str, &str)| {
        ((*slug).to_owned(), (*name).to_owned(), count(slug).map_or(0, |(_, count)| *count))
    };
    Ok(orders::status::STATUSES.iter().map(counted).collect())
}

fn of_products(call: &mut Call<'_>) -> Result<Vec<Counted>> {
    let mut counted = Vec::new();
    let mut kinds = products::record::KINDS.to_vec();
    kinds.sort_unstable();
    for kind in kinds {
        let wanted = ProductFilter {
            kinds: vec![kind.to_owned()],
            statuses: vec!["publish".to_owned()],
            page: NONE_OF_THEM,
            ..ProductFilter::default()
        };
        let (_, total) = product::list(call.conn()?, &wanted)?;
        counted.push((kind.to_owned(), format!("{} product", with_capital(kind)), total));
    }
    Ok(counted)
}

fn with_capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn of_customers(call: &mut Call<'_>) -> Result<Vec<Counted>> {
    let mut count = |is_paying: Option<bool>| -> Result<i64> {
        let wanted = UserFilter {
            roles_exclude: vec![Role::Administrator, Role::ShopManager],
            is_paying,
            page: NONE_OF_THEM,
            ..UserFilter::default()
        };
        Ok(user::list(call.conn()?, &wanted)?.1)
    };
    let (all, paying) = (count(None)?, count(Some(true))?);
    let counted = |slug: &str, name: &str, total: i64| (slug.to_owned(), name.to_owned(), total);
    Ok(vec![
        counted("paying", "Paying customer", paying),
        counted("non_paying", "Non-paying customer", all.saturating_sub(paying)),
    ])
}

fn of_coupons(call: &mut Call<'_>) -> Result<Vec<Counted>> {
    let mut counted = Vec::new();
    for (kind, name) in COUPON_KINDS {
        let wanted = CouponFilter {
            discount_kinds: vec![(*kind).to_owned()],
            statuses: vec!["publish".to_owned()],
            page: NONE_OF_THEM,
            ..CouponFilter::default()
        };
        let (_, total) = coupon::list(call.conn()?, &wanted)?;
        counted.push(((*kind).to_owned(), (*name).to_owned(), total));
    }
    Ok(counted)
}

fn of_reviews(call: &mut Call<'_>) -> Result<Vec<Counted>> {
    let wanted = ReviewFilter {
        statuses: reviews::READABLE.map(str::to_owned).to_vec(),
        ..ReviewFilter::default()
    };
    let counts = review::count_by_rating(call.conn()?, &wanted)?;
    let counted = |stars: i64| {
        let total = counts.iter().find(|(rating, _)| *rating == stars).map_or(0, |(_, n)| *n);
        (format!("rated_{stars}_out_of_5"), format!("Rated {stars} out of {RATING_MAX}"), total)
    };
    Ok((1..=RATING_MAX).map(counted).collect())
}
