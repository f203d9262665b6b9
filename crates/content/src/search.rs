//! The search over all that readers can find: posts, pages and products, terms, and formats of
//! posts. **Only what everybody may read is found**, whoever searches.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Reply, Schema, Stop, Treatment, args, form};
use db::filter::{Direction, PAGE_MAX, Page, fold};
use frame::action::{Action, anyone, read};
use frame::text::render;
use frame::{Call, Names, paging};
use serde_json::{Value, json};
use site_rows::post::{PostFilter, PostOrder, PostRow};
use site_rows::term::{self, TermFilter, TermOrder};
use types::Result;

use crate::posts::kind::{FORMATS, Kind, POST, SEARCHED_KINDS, STANDARD_FORMAT};
use crate::posts::taxonomy::{SEARCHED_TAXONOMIES, Taxonomy};
use crate::posts::{self, records, status};

const VIEWS: &[&str] = &["view", "embed"];
const PER_PAGE_MAX: i64 = 100;
/// Records that are compared with each other to find those that fit best.
const RANKED_MAX: i64 = 1_000;
const ANY: &str = "any";

/// What was found, and how many there are.
type Found = (Vec<Value>, i64);

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = item();
    let namespace = names.content.clone();
    let run = move |call: &mut Call<'_>| search(&namespace, call);
    vec![
        Route::at(&names.content, "/search")
            .on(READ, list_args(&item), read(anyone, run))
            .schema(item.document()),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(VIEWS).readonly();
    let id = Schema::types(&["integer", "string"]).about("Its number or name.");
    Item::new(
        "search-result",
        Schema::object([
            ("id", id.context(VIEWS).readonly()),
            ("title", text("Its title.")),
            ("url", text("Its address.").format("uri")),
            (
                "type",
                // Of a term it is the taxonomy.
                text("What it is.")
                    .choices(&["post", "term", "post-format"])
                    .shown_as(Schema::text()),
            ),
            ("subtype", text("Its kind.").choices(&subtypes())),
        ]),
    )
}

fn subtypes() -> Vec<&'static str> {
    let kinds = SEARCHED_KINDS.iter().map(|kind| kind.name);
    kinds.chain(SEARCHED_TAXONOMIES.iter().map(|taxonomy| taxonomy.name)).collect()
}

fn list_args(item: &Item) -> Args {
    let size = Schema::integer().about("Items on a page.").default(10).min(1).max(PER_PAGE_MAX);
    let kinds = Schema::text().about("What to search.").default("post");
    let mut choices = subtypes();
    choices.push(ANY);
    let subtype = Schema::list(Schema::text().choices(&choices)).about("Which kinds to search.");
    let ids = |about: &str| Schema::list(Schema::integer()).about(about).default(json!([]));
    Args::new()
        .arg("context", item.context_arg())
        .arg("page", Schema::integer().about("Page of the list.").default(1).min(1))
        .arg("per_page", size)
        .arg("search", Schema::text().about("Only items with these words."))
        .arg("type", kinds.choices(&["post", "term", "post-format"]))
        .treated("subtype", subtype.default(ANY), Treatment::Cleaned(args::text_list))
        .arg("exclude", ids("None of these ids."))
        .arg("include", ids("Only these ids."))
}

fn search(namespace: &str, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut page = posts::page(&call.params);
    if call.leaves_out_items() {
        page.limit = 0;
    }
    let (items, total) = match call.params.text("type") {
        Some("term") => of_terms(namespace, call, page)?,
        Some("post-format") => of_formats(namespace, call, page)?,
        _ => of_posts(namespace, call, page)?,
    };
    // Behind the last page there is nothing, and it is not said how much there is before.
    let total = if page.offset >= total { 0 } else { total };
    let path = format!("/{namespace}/search");
    let mut reply = paging::with_totals(Reply::new(items), call, &path, total);
    let number = call.params.int("page").unwrap_or(1);
    if total == 0 && number > 1 {
        let mut query = call.params.query().clone();
        query.insert(String::from("page"), json!(number - 1));
        let address = format!("{}?{}", call.visit.rest(&path), form::encode(&query));
        reply.headers.retain(|(name, _)| *name != "link");
        reply = reply.header("link", format!("<{address}>; rel=\"prev\""));
    }
    Ok(reply)
}

fn wanted_of<'a, T>(call: &Call<'_>, all: &[&'a T], name: fn(&T) -> &str) -> Vec<&'a T> {
    let asked = call.params.texts("subtype");
    let any = asked.is_empty() || asked.iter().any(|asked| asked == ANY);
    all.iter().copied().filter(|one| any || asked.iter().any(|asked| asked == name(one))).collect()
}

fn of_posts(namespace: &str, call: &mut Call<'_>, page: Page) -> Result<Found, Stop> {
    let kinds = wanted_of(call, SEARCHED_KINDS, |kind: &Kind| kind.name);
    let words = posts::words(call.params.text("search").unwrap_or_default(), false);
    let upto = page.offset.saturating_add(page.limit).min(PAGE_MAX);
    let limit = if words.is_empty() { upto } else { RANKED_MAX.max(upto) };
    let mut rows: Vec<PostRow> = Vec::new();
    let mut total = 0;
    for kind in kinds {
        let wanted = PostFilter {
            kinds: vec![kind.name.to_owned()],
            statuses: vec![status::PUBLISH.to_owned()],
            include: call.params.ints("include"),
            exclude: call.params.ints("exclude"),
            search: words.clone(),
            without_password: !words.is_empty(),
            order: PostOrder::Date,
            direction: Direction::Descending,
            page: Page { offset: 0, limit },
            ..PostFilter::default()
        };
        let (found, count) = records::list(call, kind, &wanted)?;
        rows.extend(found);
        total += count;
    }
    rows.sort_by_cached_key(|row| (rank(row, &words), std::cmp::Reverse((row.date, row.post_id))));
    let skip = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let take = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let mut items = Vec::new();
    for row in rows.iter().skip(skip).take(take) {
        items.push(post_item(namespace, call, row)?);
    }
    Ok((items, total))
}

/// How well a record fits: best is the whole text in the title, then all of its words there, then
/// one of them, then the whole text in the excerpt, then in the content.
fn rank(row: &PostRow, words: &[String]) -> u8 {
    if words.is_empty() {
        return 0;
    }
    let title = fold(&row.title);
    let folded: Vec<String> = words.iter().map(|word| fold(word)).collect();
    let whole = folded.join(" ");
    let in_title = |word: &String| title.contains(word.as_str());
    match () {
        () if title.contains(&whole) => 1,
        () if folded.iter().all(in_title) => 2,
        () if folded.iter().any(in_title) => 3,
        () if fold(&row.excerpt).contains(&whole) => 4,
        () if fold(&row.content).contains(&whole) => 5,
        () => 6,
    }
}

fn post_item(namespace: &str, call: &mut Call<'_>, row: &PostRow) -> Result<Value, Stop> {
    let visit = call.visit;
    let kind = posts::kind::kind_of(&row.kind).unwrap_or(&POST);
    let url = posts::permalink(call.conn()?, visit, row)?;
    let at = |path: String| visit.rest(&format!("/{namespace}{path}"));
    let links = Links::new()
        .embeddable("self", at(format!("/{}/{}", kind.base, row.post_id)))
        .to("about", at(format!("/types/{}", kind.name)))
        .to("collection", at(String::from("/search")));
    let fields = json!({
        "id": row.post_id,
        "title": render::title(&row.title),
        "url": url,
        "type": "post",
        "subtype": kind.name,
    });
    Ok(with_links(fields, links))
}

fn with_links(mut fields: Value, links: Links) -> Value {
    if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
        members.insert(String::from("_links"), links);
    }
    fields
}

fn of_terms(namespace: &str, call: &mut Call<'_>, page: Page) -> Result<Found, Stop> {
    let taxonomies = wanted_of(call, SEARCHED_TAXONOMIES, |one: &Taxonomy| one.name);
    let text = call.params.text("search").filter(|text| !text.is_empty()).map(str::to_owned);
    let wanted = TermFilter {
        taxonomies: taxonomies.iter().map(|taxonomy| taxonomy.name.to_owned()).collect(),
        search: text,
        include: call.params.ints("include"),
        exclude: call.params.ints("exclude"),
        // Terms that have an order of their own are listed in it.
        order: match taxonomies.as_slice() {
            [only] if only.ordered => TermOrder::MenuOrder,
            _ => TermOrder::Name,
        },
        direction: Direction::Ascending,
        page,
        ..TermFilter::default()
    };
    let (rows, total) = term::list(call.conn()?, &wanted)?;
    let visit = call.visit;
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        let taxonomy = taxonomies.iter().find(|taxonomy| taxonomy.name == row.taxonomy);
        let Some(taxonomy) = taxonomy else { continue };
        let url = posts::term_link(call.conn()?, visit, taxonomy, row)?;
        let at = |path: String| visit.rest(&format!("/{namespace}{path}"));
        let links = Links::new()
            .embeddable("self", at(format!("/{}/{}", taxonomy.base, row.term_id)))
            .to("about", at(format!("/taxonomies/{}", taxonomy.name)))
            .to("collection", at(String::from("/search")));
        let fields = json!({
            "id": row.term_id,
            "title": row.name,
            "url": url,
            "type": row.taxonomy,
        });
        items.push(with_links(fields, links));
    }
    Ok((items, total))
}

/// The formats that some published post has.
fn of_formats(namespace: &str, call: &mut Call<'_>, page: Page) -> Result<Found, Stop> {
    let text = fold(call.params.text("search").unwrap_or_default());
    let mut found = Vec::new();
    for format in FORMATS.iter().filter(|format| **format != STANDARD_FORMAT) {
        let wanted = PostFilter {
            kinds: vec![POST.name.to_owned()],
            statuses: vec![status::PUBLISH.to_owned()],
            formats: vec![(*format).to_owned()],
            page: Page { offset: 0, limit: 0 },
            ..PostFilter::default()
        };
        if format.contains(&*text) && records::list(call, &POST, &wanted)?.1 > 0 {
            found.push(*format);
        }
    }
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let skip = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let take = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let visit = call.visit;
    let item = |format: &&str| {
        let collection = visit.rest(&format!("/{namespace}/search"));
        let fields = json!({
            "id": format,
            "title": capitalised(format),
            "url": visit.page(&format!("/type/{format}/")),
            "type": "post-format",
        });
        with_links(fields, Links::new().to("collection", collection))
    };
    Ok((found.iter().skip(skip).take(take).map(item).collect(), total))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
