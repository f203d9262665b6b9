//! Patterns and icons that the editor offers, and the directories in which it looks for more. The
//! theme brings no patterns, and no directory of others is asked: **what people make themselves are
//! blocks** (`posts`).

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::{Action, memory};
use frame::{Call, Names};
use serde_json::{Value, json};
use types::Capability;

use crate::posts::kind::ALL_KINDS;
use crate::posts::list::page;
use crate::posts::schema::{ALL, ORDERS, page_args};

/// The groups in which patterns are offered: name, label, description.
const CATEGORIES: &[(&str, &str, &str)] = &[
    ("about", "About", "Who is behind the site."),
    ("banner", "Banners", "Large pictures with a few words."),
    ("call-to-action", "Call to action", "What readers are asked to do."),
    ("contact", "Contact", "How to get in touch."),
    ("featured", "Featured", "What stands out."),
    ("footer", "Footers", "The end of each page."),
    ("gallery", "Gallery", "Pictures together."),
    ("header", "Headers", "The top of each page."),
    ("posts", "Posts", "Lists of posts."),
    ("services", "Services", "What is offered."),
    ("testimonials", "Testimonials", "What others say."),
    ("text", "Text", "Paragraphs, headings and lists."),
    ("woo-commerce", "Shop", "Products and offers."),
];

/// Icons as drawings of lines on a square of 24: name, label, path.
const ICONS: &[(&str, &str, &str)] = &[
    ("boardwalk/add", "Add", "M12 5v14M5 12h14"),
    ("boardwalk/arrow-down", "Arrow down", "M12 5v14M6 13l6 6 6-6"),
    ("boardwalk/arrow-left", "Arrow left", "M19 12H5M11 6l-6 6 6 6"),
    ("boardwalk/arrow-right", "Arrow right", "M5 12h14M13 6l6 6-6 6"),
    ("boardwalk/arrow-up", "Arrow up", "M12 19V5M6 11l6-6 6 6"),
    ("boardwalk/calendar", "Calendar", "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4"),
    ("boardwalk/cart", "Cart", "M3 4h3l2 11h10l2-8H7M9 20h.01M17 20h.01"),
    ("boardwalk/check", "Check", "M5 12l5 5 9-10"),
    ("boardwalk/close", "Close", "M6 6l12 12M18 6L6 18"),
    ("boardwalk/envelope", "Envelope", "M3 6h18v12H3zM3 7l9 7 9-7"),
    ("boardwalk/home", "Home", "M4 11l8-7 8 7v9H4zM10 20v-6h4v6"),
    ("boardwalk/menu", "Menu", "M4 6h16M4 12h16M4 18h16"),
    ("boardwalk/search", "Search", "M10 4a6 6 0 1 0 0 12a6 6 0 1 0 0-12M15 15l5 5"),
    ("boardwalk/star", "Star", "M12 4l2.4 5 5.6.8-4 3.9 1 5.5-5-2.7-5 2.7 1-5.5-4-3.9 5.6-.8z"),
];

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.content, path);
    let (pattern, category, icon) = (pattern_item(), category_item(), icon_item());
    let icon_name = Args::new()
        .arg("name", Schema::text().about("Name of the icon."))
        .arg("context", icon.context_arg());
    vec![
        at("/block-patterns/patterns")
            .on(READ, Args::new(), memory(may_view, |_| Ok(Reply::new(json!([])))))
            .lists()
            .schema(pattern.document()),
        at("/block-patterns/categories")
            .on(READ, Args::new(), memory(may_view, |_| Ok(Reply::new(categories()))))
            .lists()
            .schema(category.document()),
        at("/block-directory/search")
            .on(READ, block_search_args(), memory(may_install, |_| Ok(Reply::new(json!([])))))
            .lists()
            .schema(found_block().document()),
        at("/pattern-directory/patterns")
            .on(READ, pattern_search_args(), memory(may_look_up, |_| Ok(Reply::new(json!([])))))
            .lists()
            .schema(found_pattern().document()),
        at("/icons")
            .on(READ, page_args(&icon), memory(may_view, |call| Ok(icons(call))))
            .lists()
            .schema(icon.document()),
        at("/icons/(?P<name>[a-z][a-z0-9-]*/[a-z][a-z0-9-]*)")
            .on(READ, icon_name, memory(may_view, one_icon))
            .schema(icon.document()),
    ]
}

fn text(about: &str) -> Schema {
    Schema::text().about(about).context(ALL).readonly()
}

fn texts(about: &str) -> Schema {
    Schema::list(Schema::text()).about(about).context(ALL).readonly()
}

fn pattern_item() -> Item {
    Item::new(
        "block-pattern",
        Schema::object([
            ("name", text("Its name.")),
            ("title", text("Its title.")),
            ("content", text("Its blocks.")),
            ("description", text("What it is for.")),
            ("categories", texts("The groups in which it is.")),
            ("keywords", texts("Words by which it is found.")),
            ("block_types", texts("Types of blocks that it stands in for.")),
            ("post_types", texts("Kinds of content that it is for.")),
            ("template_types", texts("Templates that it is for.")),
            ("inserter", Schema::boolean().about("Whether it is offered.").context(ALL).readonly()),
            (
                "viewport_width",
                Schema::number().about("Width of its preview.").context(ALL).readonly(),
            ),
            ("source", text("Where it comes from.")),
        ]),
    )
}

fn category_item() -> Item {
    Item::new(
        "block-pattern-category",
        Schema::object([
            ("name", text("Its name.")),
            ("label", text("Its title.")),
            ("description", text("What is in it.")),
        ]),
    )
}

fn found_block() -> Item {
    Item::new(
        "block-directory-item",
        Schema::object([
            ("name", text("Its name.")),
            ("title", text("Its title.")),
            ("description", text("What it is for.")),
            ("id", text("Slug of its plugin.")),
        ]),
    )
}

fn found_pattern() -> Item {
    Item::new(
        "pattern-directory-item",
        Schema::object([
            ("id", Schema::integer().about("Its number in the directory.").context(ALL)),
            ("title", text("Its title.")),
            ("content", text("Its blocks.")),
            ("description", text("What it is for.")),
        ]),
    )
}

fn icon_item() -> Item {
    Item::new(
        "icon",
        Schema::object([
            ("name", text("Its name.")),
            ("label", text("Its title.")),
            ("content", text("The drawing, as SVG.")),
        ]),
    )
}

fn block_search_args() -> Args {
    let context = Schema::text().choices(&["view"]).default("view");
    page_args(&found_block())
        .without("search")
        .arg("context", context.about("Scope of the request."))
        .arg("term", Schema::text().min_length(1).required().about("What to look for."))
}

fn pattern_search_args() -> Args {
    let number = |about: &str| Schema::integer().min(1).about(about);
    let orders = [ORDERS, &["favorite_count"]].concat();
    let direction = Schema::text().about("Direction of the order.").default("desc");
    page_args(&found_pattern())
        .revise("per_page", |size| size.default(100))
        .revise("search", |words| words.min_length(1))
        .arg("category", number("Only patterns of this category."))
        .arg("keyword", number("Only patterns with this keyword."))
        .arg("slug", Schema::types(&["array"]).about("Only these slugs."))
        .arg("offset", Schema::integer().about("Patterns to leave out at the start."))
        .arg("order", direction.choices(&["asc", "desc"]))
        .arg("orderby", Schema::text().about("What to sort by.").default("date").choices(&orders))
}

fn writes(call: &Call<'_>) -> bool {
    ALL_KINDS.iter().any(|kind| call.can(kind.may.edit))
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if writes(call) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_view", "You are not allowed to use the editor.").into())
}

fn may_install(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to look for blocks to install.";
    let code = "rest_block_directory_cannot_view";
    call.need(Capability::InstallPlugins, code, message)?;
    call.need(Capability::ActivatePlugins, code, message)
}

fn may_look_up(call: &mut Call<'_>) -> Result<(), Stop> {
    if writes(call) {
        return Ok(());
    }
    let message = "You are not allowed to look for patterns.";
    Err(call.deny("rest_pattern_directory_cannot_view", message).into())
}

fn categories() -> Vec<Value> {
    let categories = CATEGORIES.iter();
    let shown = categories.map(|(name, label, description)| {
        json!({ "name": name, "label": label, "description": description })
    });
    shown.collect()
}

fn drawing((name, label, path): &(&str, &str, &str)) -> Value {
    let content = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" fill=\"none\" \
         stroke=\"currentColor\" stroke-width=\"1.5\"><path d=\"{path}\"/></svg>"
    );
    json!({ "name": name, "label": label, "content": content })
}

fn icons(call: &mut Call<'_>) -> Reply {
    let words = call.params.text("search").unwrap_or_default().to_lowercase();
    let fits = |icon: &&(&str, &str, &str)| {
        icon.0.contains(&words) || icon.1.to_lowercase().contains(&words)
    };
    let page = page(&call.params);
    let skip = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let take = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let found = ICONS.iter().filter(fits).skip(skip).take(take);
    Reply::new(found.map(drawing).collect::<Vec<_>>())
}

fn one_icon(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let name = call.params.text("name").unwrap_or_default();
    let missing = || Refusal::new(404, "rest_icon_not_found", "Icon not found.");
    let icon = ICONS.iter().find(|icon| icon.0 == name).ok_or_else(missing)?;
    Ok(Reply::new(drawing(icon)))
}
