//! A front page for the store: made once, and made the front page of the site.

use contract::rest::route::{CREATE, Route, Verb};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::write;
use frame::text::escaped;
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use site_rows::post;
use types::{Capability, Error};

use super::CANNOT_CREATE;

const PAGE_OPTION: &str = "woocommerce_onboarding_homepage_post_id";
/// Products that the page shows, if there are as many.
const SHOWN: usize = 4;

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let pages = format!("/{}/pages", names.content);
    let products = format!("/{}/products", names.commerce_v3);
    let create = move |call: &mut Call<'_>| create(call, &pages, &products);
    let route = Route::at(&names.admin, "/onboarding/tasks/create_homepage");
    vec![route.on(CREATE, Args::new(), write(may_create, create)).shows(created())]
}

fn created() -> Schema {
    Schema::object([
        ("status", Schema::text().about("Result of the request.")),
        ("message", Schema::text().about("Result message.")),
        ("post_id", Schema::integer().about("Page ID.")),
        ("edit_post_link", Schema::text().about("Where the page is edited.")),
    ])
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create the front page.";
    call.need(Capability::PublishPages, CANNOT_CREATE, message)?;
    call.need(Capability::ManageOptions, CANNOT_CREATE, message)
}

/// The page that was made before is kept, as long as it is there.
fn create(call: &mut Call<'_>, pages: &str, products: &str) -> Result<Reply, Stop> {
    let stored = Options::read(call.conn()?)?;
    let before = stored.integer(PAGE_OPTION);
    let known = if before > 0 { post::get(call.conn()?, before)? } else { None };
    let is_there = known.is_some_and(|page| page.status == "publish");
    let page_id = if is_there { before } else { made(call, &stored, pages, products)? };
    for (option, value) in [
        (PAGE_OPTION, json!(page_id)),
        ("show_on_front", json!("page")),
        ("page_on_front", json!(page_id)),
    ] {
        options::set(call.conn()?, option, &value)?;
    }
    let edit = call.visit.page(&format!("/wp-admin/post.php?post={page_id}&action=edit"));
    Ok(Reply::new(json!({
        "status": "success",
        "message": "The front page was created.",
        "post_id": page_id,
        "edit_post_link": edit,
    })))
}

fn made(call: &mut Call<'_>, stored: &Options, pages: &str, products: &str) -> Result<i64, Stop> {
    let newest = format!("{products}?status=publish&per_page={SHOWN}");
    let goods = call.ask(Verb::Get, &newest, Map::new())?;
    let goods: Vec<Value> = goods.as_array().cloned().unwrap_or_default();
    let content = content(&stored.text("blogname"), &goods);
    let body = json!({ "title": "Welcome", "status": "publish", "content": content });
    let page = call.ask(Verb::Post, pages, body.as_object().cloned().unwrap_or_default())?;
    let id = page.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| Error::internal("a new page has no id").into())
}

/// A greeting, and the newest products if there are enough for a row.
fn content(site_name: &str, goods: &[Value]) -> String {
    let mut text = format!(
        "<!-- wp:heading {{\"level\":1}} -->\n<h1>{}</h1>\n<!-- /wp:heading -->\n\n\
         <!-- wp:paragraph -->\n<p>Welcome to our store.</p>\n<!-- /wp:paragraph -->\n",
        escaped(site_name)
    );
    if goods.len() >= SHOWN {
        let item = |product: &Value| {
            let member = |name: &str| product.get(name).and_then(Value::as_str).unwrap_or_default();
            let (link, name) = (escaped(member("permalink")), escaped(member("name")));
            format!("<li><a href=\"{link}\">{name}</a></li>")
        };
        let items: String = goods.iter().map(item).collect();
        text.push_str("\n<!-- wp:heading -->\n<h2>New arrivals</h2>\n<!-- /wp:heading -->\n");
        text.push_str("\n<!-- wp:list -->\n<ul>");
        text.push_str(&items);
        text.push_str("</ul>\n<!-- /wp:list -->\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let goods = vec![json!({ "name": "A<b>", "permalink": "https://x.example/?a=1&b=\"" }); 4];
        let page = content("Pier & <Sons>", &goods);
        for part in ["Pier &amp; &lt;Sons&gt;", "A&lt;b&gt;", "?a=1&amp;b=&quot;\""] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!content("Pier", &goods[..3]).contains("<ul>"), "three are not a row");
    }
}
