//! What scripts of themes ask for at the front page: the parts of it that tell of the cart. Unknown
//! requests are answered with nothing, as clients know it.

use askama::Template;
use content::web::WebAnswer;
use contract::rest::Verb;
use serde_json::json;

use super::path::CART;
use super::shop_request::ShopRequest;
use super::values::number;

const KIND: &str = "page:ajax";
const FRAGMENTS: &str = "get_refreshed_fragments";
/// The element that the part takes the place of.
const PLACE: &str = "div.widget_shopping_cart_content";

#[derive(Template)]
#[template(path = "shop/parts/mini_cart.html")]
struct MiniCart<'a> {
    count: i64,
    cart: &'a str,
}

impl ShopRequest<'_> {
    pub(super) async fn ajax(&mut self, wanted: &str) -> WebAnswer {
        if wanted != FRAGMENTS {
            return answer("text/html; charset=UTF-8", String::new());
        }
        let said = self.ask(Verb::Get, "/cart", None).await;
        let hash = said.headers.iter().find(|(name, _)| *name == "cart-hash");
        let hash = hash.map(|(_, value)| value.clone()).unwrap_or_default();
        let link = self.visit.page(&format!("{CART}/"));
        let part = MiniCart { count: number(&said.json, "items_count"), cart: &link };
        let part = content::pages::rendered(&part);
        let body = json!({ "fragments": { PLACE: part }, "cart_hash": hash });
        answer("application/json; charset=UTF-8", body.to_string())
    }
}

fn answer(media_type: &str, body: String) -> WebAnswer {
    let headers = vec![
        ("content-type", media_type.to_owned()),
        ("cache-control", String::from("no-store")),
        ("x-content-type-options", String::from("nosniff")),
        ("x-robots-tag", String::from("noindex")),
    ];
    WebAnswer { kind: KIND, status: 200, headers, body, user_id: None }
}
