//! What a list's parameters ask the store for.

use contract::rest::{Params, Stop, loose};
use db::filter::Direction;
use frame::Call;
use serde_json::Value;
use shop_rows::product::{LowStock, ProductColumn, ProductFilter, ProductOrder, ProductSearch};
use site_rows::post::{Relation, SEARCH_WORDS_MAX, TermCondition};
use site_rows::term;
use types::{Amount, Timestamp};

use super::record::{
    BRAND, CATEGORY, EXTERNAL, GROUPED, IN_STOCK, ON_BACKORDER, OUT_OF_STOCK, SHIPPING_CLASS, TAG,
    TRASH, VARIATION, decimal_text,
};
use crate::common::version::Version;
use crate::common::{moments, paging};

/// An id that nothing has, for conditions that nothing can meet.
const NOBODY: i64 = 0;

/// The filter of a list of products.
pub(super) fn of_products(call: &mut Call<'_>, version: Version) -> Result<ProductFilter, Stop> {
    let mut filter = common(call);
    let params = &call.params;
    let types = params.texts("include_types");
    filter.kinds = if types.is_empty() { named(params, "type") } else { types };
    filter.kinds_exclude.extend(params.texts("exclude_types"));
    filter.featured = flag(params, "featured");
    // A SKU may be that of a variation.
    let finds_variations = searches(&mut filter, params) || !filter.skus.is_empty();
    let low = version == Version::Analytics && params.flag("low_in_stock");
    if low {
        only_low(call, &mut filter);
    }
    if !finds_variations && !low {
        filter.kinds_exclude.push(VARIATION.to_owned());
    }
    filter.terms = terms(call)?;
    filter.terms_relation = Relation::And;
    Ok(filter)
}

/// The filter of a list of variations, of one product or of all.
pub(super) fn of_variations(
    call: &Call<'_>,
    version: Version,
    product_id: Option<i64>,
) -> ProductFilter {
    let mut filter = common(call);
    let params = &call.params;
    filter.kinds = vec![VARIATION.to_owned()];
    if let Some(product_id) = product_id {
        filter.parents = vec![product_id];
    }
    filter.has_price = flag(params, "has_price");
    let words = words(params.text("search").unwrap_or_default());
    if !words.is_empty() {
        let columns = match version {
            Version::Analytics => {
                vec![ProductColumn::Name, ProductColumn::Sku, ProductColumn::AttributeValue]
            }
            _ => Vec::new(),
        };
        filter.searches.push(ProductSearch { words, columns });
    }
    filter.attributes = attributes(params);
    filter
}

/// Keeps only products of which there are few. What can be ordered all the same is not meant.
pub(super) fn only_low(call: &Call<'_>, filter: &mut ProductFilter) {
    let amount = call.options().integer("woocommerce_notify_low_stock_amount").max(0);
    filter.low_stock = Some(LowStock { threshold: Amount::from_whole(amount), above: None });
    if filter.stock_statuses.is_empty() {
        filter.stock_statuses = [IN_STOCK, OUT_OF_STOCK].map(str::to_owned).into();
    }
}

fn common(call: &Call<'_>) -> ProductFilter {
    let params = &call.params;
    let mut filter = ProductFilter {
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        parents: params.ints("parent"),
        parents_exclude: params.ints("parent_exclude"),
        slugs: named(params, "slug"),
        skus: skus(params),
        on_sale: flag(params, "on_sale"),
        is_virtual: flag(params, "virtual"),
        downloadable: flag(params, "downloadable"),
        stock_statuses: named(params, "stock_status"),
        price_min: bound(params, "min_price"),
        price_max: bound(params, "max_price"),
        after: moment(call, "after"),
        before: moment(call, "before"),
        modified_after: moment(call, "modified_after"),
        modified_before: moment(call, "modified_before"),
        page: paging::page(call),
        ..ProductFilter::default()
    };
    filter.tax_classes = named(params, "tax_class");
    for class in filter.tax_classes.iter_mut().filter(|class| *class == "standard") {
        class.clear();
    }
    if let Some(in_stock) = flag(params, "in_stock") {
        let statuses = if in_stock { vec![IN_STOCK, ON_BACKORDER] } else { vec![OUT_OF_STOCK] };
        filter.stock_statuses = statuses.into_iter().map(str::to_owned).collect();
    }
    // What is sold elsewhere, or only in parts, is nothing for a till.
    if params.flag("pos_products_only") {
        filter.kinds_exclude = vec![GROUPED.to_owned(), EXTERNAL.to_owned()];
    }
    statuses(&mut filter, params);
    (filter.order, filter.direction) = order(call, params);
    filter
}

fn statuses(filter: &mut ProductFilter, params: &Params) {
    let included = params.texts("include_status");
    let included = if included.is_empty() { named(params, "status") } else { included };
    filter.statuses_exclude = params.texts("exclude_status");
    if included.is_empty() || included.iter().any(|status| status == "any") {
        filter.statuses_exclude.extend([TRASH.to_owned(), String::from("auto-draft")]);
    } else {
        filter.statuses = included;
    }
}

/// Adds the searches, and says whether one of them looks at SKUs.
fn searches(filter: &mut ProductFilter, params: &Params) -> bool {
    let given = |name: &str| params.text(name).map(str::trim).unwrap_or_default();
    let either = given("search_name_or_sku");
    if !either.is_empty() {
        let columns = vec![ProductColumn::Name, ProductColumn::Sku];
        filter.searches.push(ProductSearch { words: words(either), columns });
        filter.skus = Vec::new();
        return true;
    }
    let words = words(given("search"));
    if !words.is_empty() {
        let fields = params.texts("search_fields");
        let columns = fields.iter().filter_map(|name| column(name)).collect();
        filter.searches.push(ProductSearch { words, columns });
    }
    let sku = given("search_sku");
    if sku.is_empty() {
        return false;
    }
    let columns = vec![ProductColumn::Sku];
    filter.searches.push(ProductSearch { words: vec![sku.to_owned()], columns });
    filter.skus = Vec::new();
    true
}

fn column(name: &str) -> Option<ProductColumn> {
    match name {
        "name" => Some(ProductColumn::Name),
        "global_unique_id" => Some(ProductColumn::GlobalUniqueId),
        "description" => Some(ProductColumn::Description),
        "short_description" => Some(ProductColumn::ShortDescription),
        "sku" => Some(ProductColumn::Sku),
        _ => None,
    }
}

/// The words to search for: a phrase in quotes is one.
fn words(search: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in search.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.trim().to_owned());
        } else {
            words.extend(part.split([' ', ',', '+', '\t', '\n', '\r']).map(str::to_owned));
        }
    }
    words.retain(|word| !word.is_empty());
    words.truncate(SEARCH_WORDS_MAX);
    words
}

fn terms(call: &mut Call<'_>) -> Result<Vec<TermCondition>, Stop> {
    let mut conditions = Vec::new();
    let taxonomies = [
        ("category", CATEGORY),
        ("tag", TAG),
        ("shipping_class", SHIPPING_CLASS),
        ("brand", BRAND),
    ];
    for (name, _) in taxonomies {
        let mut ids = call.params.ints(name);
        ids.retain(|id| *id > 0);
        // What is no number is nothing that a product could be in.
        if !call.params.texts(name).is_empty() {
            // What is below a category is of it, too.
            let mut all = term::with_descendants(call.conn()?, &ids)?;
            all.push(NOBODY);
            conditions.push(TermCondition::AnyOf(all));
        }
    }
    let attribute = call.params.text("attribute").unwrap_or_default().to_owned();
    let values = call.params.ints("attribute_term");
    if let (Some(name), false) = (attribute.strip_prefix("pa_"), values.is_empty())
        && shop_rows::attribute::find_by_name(call.conn()?, name)?.is_some()
    {
        conditions.push(TermCondition::AnyOf(values));
    }
    Ok(conditions)
}

fn attributes(params: &Params) -> Vec<(String, Vec<String>)> {
    let Some(Value::Array(filter)) = params.get("attributes") else { return Vec::new() };
    let pair = |condition: &Value| {
        let name = condition.get("attribute")?.as_str()?.to_owned();
        let text = |value: &Value| loose::scalar_text(value).map(std::borrow::Cow::into_owned);
        let several = condition.get("terms").and_then(Value::as_array).into_iter().flatten();
        let values = condition.get("term").into_iter().chain(several).filter_map(text);
        Some((name, values.collect::<Vec<_>>()))
    };
    filter.iter().filter_map(pair).filter(|(_, values)| !values.is_empty()).collect()
}

fn skus(params: &Params) -> Vec<String> {
    let text = params.text("sku").unwrap_or_default();
    let mut skus: Vec<String> = text.split(',').map(|sku| sku.trim().to_owned()).collect();
    skus.retain(|sku| !sku.is_empty());
    // A SKU may have a comma in it.
    if skus.len() > 1 {
        skus.push(text.to_owned());
    }
    skus
}

fn order(call: &Call<'_>, params: &Params) -> (ProductOrder, Direction) {
    let direction = match params.text("order") {
        Some("asc") => Direction::Ascending,
        _ => Direction::Descending,
    };
    let order = match params.text("orderby").unwrap_or("date") {
        "id" => ProductOrder::Id,
        // The given order has no other direction.
        "include" | "post__in" => return (ProductOrder::Include, Direction::Ascending),
        "title" => ProductOrder::Title,
        "slug" => ProductOrder::Slug,
        "modified" => ProductOrder::Modified,
        "price" => ProductOrder::Price,
        "menu_order" => ProductOrder::MenuOrder,
        // The best first, whatever direction is asked for.
        "popularity" => return (ProductOrder::Popularity, Direction::Descending),
        "rating" => return (ProductOrder::Rating, Direction::Descending),
        "sales" => ProductOrder::Popularity,
        "random" => {
            let seed = call.now().as_micros().rem_euclid(i64::from(u16::MAX));
            ProductOrder::Shuffled(u16::try_from(seed).unwrap_or_default())
        }
        _ => ProductOrder::Date,
    };
    (order, direction)
}

fn named(params: &Params, name: &str) -> Vec<String> {
    params.text(name).filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect()
}

fn flag(params: &Params, name: &str) -> Option<bool> {
    params.get(name).and_then(Value::as_bool)
}

fn bound(params: &Params, name: &str) -> Option<Amount> {
    Amount::parse(&decimal_text(params.text(name)?))
}

fn moment(call: &Call<'_>, name: &str) -> Option<Timestamp> {
    let is_gmt = call.params.flag("dates_are_gmt");
    moments::bound(call.options(), call.params.text(name), is_gmt)
}
