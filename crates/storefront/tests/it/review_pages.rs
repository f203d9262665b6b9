//! What people say below a product, and what scripts of themes ask for.

use serde_json::{Value, json};

use super::browser::{Browser, Shown};
use super::reminders::mails;
use super::support::TestShop;

const WORDS: [(&str, &str); 4] = [
    ("comment", "Holds in any <b>tide</b><script>alert(1)</script>."),
    ("author", "Ada"),
    ("email", "ada@example.test"),
    ("rating", "4"),
];

fn say(reader: &Browser<'_>, typed: &[(&str, &str)]) -> Shown {
    let page = reader.get("/product/anchor/");
    assert!(page.has("Write a review"), "{}", page.body);
    reader.submit(&page, "comment", typed)
}

fn set(shop: &TestShop, name: &str, value: &str) {
    let path = format!("/wc/v3/settings/products/{name}");
    shop.made("PUT", &path, &json!({ "value": value }));
}

#[test]
fn a_review_waits_until_somebody_approves_it() {
    let (shop, goods) = TestShop::furnished();
    let reader = Browser::new(&shop);
    let said = say(&reader, &WORDS);
    assert_eq!((said.status, said.has("once it is approved")), (200, true), "{}", said.body);
    assert!(!reader.get("/product/anchor/").has("Holds in any"), "nobody has approved it");
    let held = shop.made("GET", "/wc/v3/products/reviews?status=hold", &Value::Null);
    assert_eq!(held[0]["product_id"], goods.anchor);
    assert_eq!((&held[0]["rating"], &held[0]["reviewer"]), (&json!(4), &json!("Ada")));
    let path = format!("/wc/v3/products/reviews/{}", held[0]["id"]);
    shop.made("PUT", &path, &json!({ "status": "approved" }));
    let page = reader.get("/product/anchor/");
    assert!(page.has("Holds in any <b>tide</b>") && page.has("4 of 5 stars"), "{}", page.body);
    assert!(!page.has("<script>alert"), "{}", page.body);
    assert!(page.has("\"reviewCount\":1"), "{}", page.body);
    // The shop knows her now; but nobody may lead people elsewhere.
    let again = say(&reader, &[&WORDS[1..], &[("comment", "Still holds.")]].concat());
    assert!(again.header("location").ends_with("/product/anchor/#reviews"), "{again:?}");
    assert!(reader.get("/product/anchor/").has("Still holds."));
    let advert =
        say(&reader, &[&WORDS[1..], &[("comment", "https://x.example http://y.example")]].concat());
    assert_eq!((advert.status, advert.has("Error")), (200, false), "{}", advert.body);
    assert!(!reader.get("/product/anchor/").has("x.example"));
}

fn write_option(shop: &TestShop, name: &'static str, value: Value) {
    shop.write(move |conn| frame::options::set(conn, name, &value));
    shop.site.note_write();
}

#[test]
fn words_that_the_site_does_not_want_count_in_reviews_too() {
    let (shop, _) = TestShop::furnished();
    let reader = Browser::new(&shop);
    write_option(&shop, "comment_previously_approved", json!(false));
    write_option(&shop, "moderation_keys", json!("rust\nbarnacle"));
    write_option(&shop, "disallowed_keys", json!("casino"));
    for (text, status) in [("Holds.", "approved"), ("Some RUST.", "hold"), ("My Casino!", "trash")]
    {
        let said = say(&reader, &[&WORDS[1..], &[("comment", text)]].concat());
        assert_eq!(said.status, if status == "approved" { 302 } else { 200 }, "{}", said.body);
        let path = format!("/wc/v3/products/reviews?status={status}");
        let found = shop.made("GET", &path, &Value::Null);
        assert_eq!(found.as_array().unwrap().len(), 1, "{status}: {found}");
    }
}

#[test]
fn whoever_moderates_is_told_of_a_review_that_waits() {
    let (shop, _) = TestShop::furnished();
    write_option(&shop, "admin_email", json!("desk@shop.example"));
    say(&Browser::new(&shop), &WORDS);
    let sent = mails(&shop);
    let told = sent.iter().find(|message| message.to.contains("desk@shop.example"));
    let told = told.unwrap_or_else(|| panic!("{sent:?}"));
    assert_eq!(told.subject, "Review of Anchor awaits moderation");
    assert!(told.text.contains("Ada (ada@example.test) wrote:"), "{}", told.text);
    assert!(told.text.contains("/product/anchor/#comment-"), "{}", told.text);
}

#[test]
fn a_review_of_a_stranger_is_a_comment_and_no_page() {
    let (shop, _) = TestShop::furnished();
    set(&shop, "woocommerce_review_rating_required", "no");
    let reader = Browser::new(&shop);
    let text = "Good.<h1 style=\"margin-top:-900px\">Closed</h1><img src=\"//evil.example/a.gif\">";
    say(&reader, &[&WORDS[1..], &[("comment", text)]].concat());
    let held = shop.made("GET", "/wc/v3/products/reviews?status=hold", &Value::Null);
    let kept = held[0]["review"].as_str().unwrap();
    assert!(kept.contains("Good."), "{held}");
    assert!(!kept.contains("<h1") && !kept.contains("<img") && !kept.contains("style"), "{kept}");
}

#[test]
fn what_strangers_do_not_see_takes_no_review() {
    let (shop, _) = TestShop::furnished();
    let secret = json!({
        "name": "Secret prototype", "type": "variable", "status": "private",
        "attributes": [{ "name": "Size", "variation": true, "options": ["S"] }],
    });
    let secret = shop.made("POST", "/wc/v3/products", &secret);
    let path = format!("/wc/v3/products/{}/variations", secret["id"]);
    let size = json!({ "regular_price": "5", "attributes": [{ "name": "Size", "option": "S" }] });
    let variation = shop.made("POST", &path, &size);
    let reader = Browser::new(&shop);
    let (action, fields) = reader.get("/product/anchor/").form("comment");
    for id in [&secret["id"], &variation["id"]] {
        let mut fields = fields.clone();
        fields.insert(String::from("comment_post_ID"), id.to_string());
        fields.extend(WORDS.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let answer = reader.post(&action, &fields);
        assert!(!answer.has("rototype") && answer.status == 403, "{}", answer.status);
    }
    let all = shop.made("GET", "/wc/v3/products/reviews?status=all", &Value::Null);
    assert_eq!(all, json!([]));
}

#[test]
fn a_review_is_refused_without_what_the_shop_asks_for() {
    let (shop, _) = TestShop::furnished();
    let reader = Browser::new(&shop);
    for (name, value) in [("comment", " "), ("author", ""), ("email", "nobody"), ("rating", "")] {
        let typed = [&WORDS[..], &[(name, value)]].concat();
        let said = say(&reader, &typed);
        assert_eq!(said.status, 400, "{name}: {}", said.body);
    }
    let page = reader.get("/product/anchor/");
    let (action, mut fields) = page.form("comment");
    fields.extend(WORDS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let foreign = reader.post_from(&action, &fields, "https://evil.example");
    assert_eq!(foreign.status, 403, "{}", foreign.body);
    set(&shop, "woocommerce_enable_reviews", "no");
    assert!(!reader.get("/product/anchor/").has("Write a review"));
    assert_eq!(reader.post(&action, &fields).status, 403);
    let all = shop.made("GET", "/wc/v3/products/reviews?status=all", &Value::Null);
    assert_eq!(all, json!([]));
}

#[test]
fn scripts_of_themes_learn_of_the_cart() {
    let (shop, _) = TestShop::furnished();
    let buyer = Browser::new(&shop);
    let ask = || {
        let shown = buyer.get("/?wc-ajax=get_refreshed_fragments");
        assert_eq!(shown.header("content-type"), "application/json; charset=UTF-8");
        serde_json::from_str::<Value>(&shown.body).unwrap()
    };
    let place = "div.widget_shopping_cart_content";
    assert_eq!(ask()["cart_hash"], "");
    assert!(ask()["fragments"][place].as_str().unwrap().contains("The cart is empty."));
    let page = buyer.get("/product/anchor/");
    buyer.submit(&page, "add-to-cart", &[("quantity", "2")]);
    assert!(ask()["fragments"][place].as_str().unwrap().contains("Items in the cart: 2"));
    assert_ne!(ask()["cart_hash"], "");
    let unknown = buyer.get("/?wc-ajax=nope");
    assert_eq!((unknown.status, &*unknown.body), (200, ""));
}
