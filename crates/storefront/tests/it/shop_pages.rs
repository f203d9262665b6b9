//! The shop's pages, used as buyers use them: with forms alone.

use db::background_job;
use serde_json::{Value, json};
use types::Role;

use super::browser::{Browser, Shown};
use super::harness::HOME;
use super::support::{Goods, TestShop, now};

const ADDRESS: &[(&str, &str)] = &[
    ("billing_first_name", "Ada"),
    ("billing_last_name", "Lake"),
    ("billing_address_1", "1 Pier Rd"),
    ("billing_city", "Oakland"),
    ("billing_state", "California"),
    ("billing_postcode", "94607"),
    ("billing_country", "US"),
    ("billing_phone", "5105550111"),
    ("billing_email", "ada@example.test"),
];

fn add(browser: &Browser<'_>, slug: &str, quantity: &str) -> Shown {
    let page = browser.get(&format!("/product/{slug}/"));
    assert_eq!(page.status, 200, "{}", page.body);
    browser.submit(&page, "add-to-cart", &[("quantity", quantity)])
}

fn order(browser: &Browser<'_>, method: &str) -> Shown {
    let page = browser.get("/checkout/");
    assert_eq!(page.status, 200, "{}", page.body);
    let typed = [ADDRESS, &[("payment_method", method)]].concat();
    browser.submit(&page, "place_order", &typed)
}

/// An order that waits for its payment, with the path at which it is paid.
fn waiting_order(shop: &TestShop, goods: &Goods, customer: i64) -> (Value, String) {
    let body = json!({
        "status": "pending", "customer_id": customer,
        "billing": { "email": "ada@example.test", "first_name": "Ada" },
        "line_items": [{ "product_id": goods.anchor, "quantity": 1 }],
    });
    let order = shop.made("POST", "/wc/v3/orders", &body);
    let url = order["payment_url"].as_str().unwrap();
    let path = url.strip_prefix(HOME).unwrap().to_owned();
    (order, path)
}

/// Signs in as this user, without a password.
fn signed_in(shop: &TestShop, user_id: i64) -> Browser<'_> {
    let browser = Browser::new(shop);
    sign_in(shop, &browser, user_id);
    browser
}

fn sign_in(shop: &TestShop, browser: &Browser<'_>, user_id: i64) {
    let request = super::browser::request("GET", "/", Vec::new(), Vec::new());
    let begun = shop.run(shop.site.begin_session(user_id, &request, false, now())).unwrap();
    let [own, ..] = shop.site.session_cookies();
    browser.set_cookie(&own, begun.token.expose());
}

#[test]
fn a_buyer_goes_from_the_shop_to_an_order_with_forms_alone() {
    let (shop, goods) = TestShop::furnished();
    let settings = json!({ "settings": { "instructions": "Use the order number." } });
    shop.made("PUT", "/wc/v3/payment_gateways/bacs", &settings);
    let buyer = Browser::new(&shop);
    let list = buyer.get("/shop/");
    assert!(list.has("/product/anchor/") && list.has("$25.00"), "{}", list.body);
    assert!(list.header("content-security-policy").starts_with("default-src 'none'"));
    let product = buyer.get("/product/anchor/");
    assert!(product.has("application/ld+json") && product.has("rel=\"canonical\""));
    assert!(product.has("3 in stock"), "{}", product.body);
    let cart = buyer.follow(&add(&buyer, "anchor", "2"));
    assert!(cart.has("$50.00") && cart.has("$60.50"), "{}", cart.body);
    let (_, fields) = cart.form("update_cart");
    let quantity = fields.keys().find(|name| name.starts_with("quantity[")).unwrap();
    let cart = buyer.follow(&buyer.submit(&cart, "update_cart", &[(quantity, "1")]));
    assert!(cart.has("$25.00") && cart.has("$33.00"), "{}", cart.body);
    let answer = order(&buyer, "bacs");
    assert!(answer.header("location").contains("/checkout/order-received/"), "{}", answer.body);
    let received = buyer.follow(&answer);
    assert_eq!(received.status, 200);
    assert!(received.has("Use the order number.") && received.has("Anchor"), "{}", received.body);
    assert_eq!(received.header("cache-control"), "no-store");
    assert_eq!(received.header("referrer-policy"), "no-referrer");
    let made = shop.made("GET", "/wc/v3/orders", &Value::Null);
    assert_eq!((&made[0]["status"], &made[0]["total"]), (&json!("on-hold"), &json!("33.00")));
    assert_eq!(made[0]["billing"]["state"], "CA", "a state may be given by its name");
    assert_eq!(shop.stock_of(goods.anchor), 2);
    assert!(buyer.get("/cart/").has("Your cart is empty"));
    let waits = |job: i64| {
        let found = shop.read(move |conn| background_job::get(conn, job));
        found.is_some_and(|job| job.kind == frame::mail::JOB)
    };
    assert!(waits(1), "the buyer is sent an e-mail");
}

#[test]
fn lists_are_paged_sorted_searched_and_by_category() {
    let (shop, goods) = TestShop::furnished();
    let boats = shop.made("POST", "/wc/v3/products/categories", &json!({ "name": "Boats" }));
    let body = json!({ "name": "Sails", "parent": boats["id"] });
    let sails = shop.made("POST", "/wc/v3/products/categories", &body);
    for number in 1..=17 {
        let body = json!({
            "name": format!("Sail {number:02}"), "regular_price": format!("{number}"),
            "categories": [{ "id": sails["id"] }],
        });
        shop.product(&body);
    }
    let reader = Browser::new(&shop);
    let first = reader.get("/product-category/boats/?orderby=price");
    assert!(first.has("Sail 01") && !first.has("Sail 17"), "{}", first.body);
    assert!(first.has("/product-category/boats/page/2/?orderby=price"), "{}", first.body);
    let second = reader.get("/product-category/boats/page/2/?orderby=price");
    assert!(second.has("Sail 17") && !second.has("Sail 01"), "{}", second.body);
    let dearest = reader.get("/product-category/boats/sails/?orderby=price-desc");
    assert!(dearest.has("Sail 17") && dearest.has(">Boats</a>"), "{}", dearest.body);
    let found = reader.get("/?s=sail+09&post_type=product");
    assert!(found.has("Sail 09") && !found.has("Anchor") && found.has("noindex"));
    for path in ["/product-category/none/", "/product-tag/none/", "/shop/page/9/"] {
        assert_eq!(reader.get(path).status, 404, "{path}");
    }
    let moved = reader.get("/shop");
    assert_eq!((moved.status, moved.header("location")), (301, &*format!("{HOME}/shop/")));
    let linked = reader.get(&format!("/?add-to-cart={}", goods.rope));
    let target = format!("{HOME}/?post_type=product&p={}", goods.rope);
    assert_eq!((linked.status, linked.header("location")), (302, &*target));
    assert!(reader.get("/cart/").has("Your cart is empty"), "a link changes nothing");
    let bounded = reader.get("/product-category/boats/?min_price=16&max_price=16");
    assert!(bounded.has("Sail 16") && !bounded.has("Sail 15"), "{}", bounded.body);
}

#[test]
fn variations_and_groups_are_chosen_in_forms() {
    let (shop, goods) = TestShop::furnished();
    let body = json!({
        "name": "Sweater", "type": "variable",
        "attributes": [{ "name": "Size", "options": ["S", "L"], "variation": true }],
    });
    let sweater = shop.product(&body);
    for (size, price) in [("S", "40"), ("L", "50")] {
        let body =
            json!({ "regular_price": price, "attributes": [{ "name": "Size", "option": size }] });
        shop.made("POST", &format!("/wc/v3/products/{sweater}/variations"), &body);
    }
    let kit = json!({ "name": "Kit", "type": "grouped", "grouped_products": [goods.rope] });
    shop.product(&kit);
    let buyer = Browser::new(&shop);
    let page = buyer.get("/product/sweater/");
    assert!(page.has("$40.00 – $50.00"), "{}", page.body);
    let refused = buyer.submit(&page, "add-to-cart", &[]);
    assert_eq!(refused.status, 400);
    assert!(refused.has("must be selected") && refused.has("role=\"alert\""), "{}", refused.body);
    let chosen = [("attribute_size", "L"), ("quantity", "1")];
    let cart = buyer.follow(&buyer.submit(&page, "add-to-cart", &chosen));
    assert!(cart.has("Size: L") && cart.has("$50.00"), "{}", cart.body);
    let page = buyer.get("/product/kit/");
    let none = buyer.submit(&page, "add-to-cart", &[]);
    assert!(none.status == 400 && none.has("at least one product"), "{}", none.body);
    let field = format!("quantity[{}]", goods.rope);
    let cart = buyer.follow(&buyer.submit(&page, "add-to-cart", &[(&field, "2")]));
    assert!(cart.has("Rope") && cart.has("Sweater") && cart.has("$20.00"), "{}", cart.body);
}

#[test]
fn an_order_is_paid_at_its_address_by_whoever_may() {
    let (mut shop, goods) = TestShop::furnished();
    let owner = shop.user("shopper", Role::Customer);
    let (order, path) = waiting_order(&shop, &goods, 0);
    let guest = Browser::new(&shop);
    let page = guest.get(&path);
    assert!(page.status == 200 && page.has("$25.00"), "{}", page.body);
    assert!(!page.has("ada@example.test"), "a link tells no address");
    assert_eq!(guest.get(&path.replace("key=wc_order_", "key=wc_other_")).status, 404);
    let (action, mut fields) = page.form("pay");
    fields.remove("_wpnonce");
    assert_eq!(guest.post(&action, &fields).status, 403, "without its token");
    let none = guest.submit(&page, "pay", &[("payment_method", "")]);
    assert!(none.status == 400 && none.has("Select a payment method."), "{}", none.body);
    let paid = guest.follow(&guest.submit(&page, "pay", &[("payment_method", "cheque")]));
    assert!(paid.has("Thank you"), "{}", paid.body);
    let id = &order["id"];
    let stored = shop.made("GET", &format!("/wc/v3/orders/{id}"), &Value::Null);
    assert_eq!(stored["status"], "on-hold");
    assert_eq!(stored["payment_method"], "cheque");
    assert!(guest.get(&path).has("needs no payment"));
    let (_, path) = waiting_order(&shop, &goods, owner);
    assert_eq!(guest.get(&path).status, 403, "the owner signs in first");
    let shopper = signed_in(&shop, owner);
    let page = shopper.get(&path);
    let paid = shopper.submit(&page, "pay", &[("payment_method", "cod")]);
    assert!(shopper.follow(&paid).has("Thank you"));
}

#[test]
fn nobody_reads_what_is_anothers() {
    let (mut shop, goods) = TestShop::furnished();
    let (ann, bob) = (shop.user("ann", Role::Customer), shop.user("bob", Role::Customer));
    let buyer = Browser::new(&shop);
    buyer.follow(&add(&buyer, "anchor", "1"));
    let stranger = Browser::new(&shop);
    assert!(stranger.get("/cart/").has("Your cart is empty"));
    let (name, value) = buyer.cookie("wp_woocommerce_session_").unwrap();
    stranger.set_cookie(&name, &format!("{value}x"));
    assert!(stranger.get("/cart/").has("Your cart is empty"), "a forged cookie is none");
    let received = order(&buyer, "bacs").header("location").to_owned();
    let path = received.strip_prefix(HOME).unwrap();
    assert_eq!(stranger.get(path.split('?').next().unwrap()).status, 404, "without its key");
    assert_eq!(stranger.get(&format!("{path}x")).status, 404, "with another key");
    let (own, _) = waiting_order(&shop, &goods, ann);
    let path = format!("/my-account/view-order/{}/", own["id"]);
    assert!(signed_in(&shop, ann).get(&path).has("Ada"));
    assert_eq!(signed_in(&shop, bob).get(&path).status, 404);
    let number = format!("/my-account/view-order/{}/", own["id"]);
    assert!(signed_in(&shop, ann).get("/my-account/orders/").has(&number));
    assert!(!signed_in(&shop, bob).get("/my-account/orders/").has(&number));
    let asked = stranger.get(&path);
    assert!(asked.has("Sign in") && !asked.has("Ada"), "{}", asked.body);
}

#[test]
fn what_is_not_there_cannot_be_bought() {
    let (shop, goods) = TestShop::furnished();
    let (first, second) = (Browser::new(&shop), Browser::new(&shop));
    let many = add(&first, "anchor", "4");
    assert!(many.status == 400 && many.has("only 3 left"), "{}", many.body);
    first.follow(&add(&first, "anchor", "3"));
    second.follow(&add(&second, "anchor", "3"));
    assert_eq!(order(&first, "bacs").status, 302);
    let late = second.get("/checkout/");
    assert!(late.status == 200 || late.status == 302);
    let typed = [ADDRESS, &[("payment_method", "bacs")]].concat();
    let refused = second.submit(&late, "place_order", &typed);
    assert!(refused.status >= 400 && refused.has("out of stock"), "{}", refused.body);
    assert_eq!(shop.stock_of(goods.anchor), 0);
    let page = second.get("/product/anchor/");
    assert!(page.has("Out of stock") && !page.has("add-to-cart\" value"), "{}", page.body);
    let fields = [("add-to-cart".to_owned(), goods.anchor.to_string())].into();
    let forced = second.post("/product/anchor/", &fields);
    assert!(forced.status == 400 && forced.has("out of stock"), "{}", forced.body);
}

#[test]
fn forms_of_other_sites_are_refused() {
    let (shop, goods) = TestShop::furnished();
    let buyer = Browser::new(&shop);
    let fields = [("add-to-cart".to_owned(), goods.rope.to_string())].into();
    let foreign = buyer.post_from("/product/rope/", &fields, "https://other.example");
    assert_eq!(foreign.status, 403);
    assert!(buyer.get("/cart/").has("Your cart is empty"));
    buyer.follow(&add(&buyer, "rope", "1"));
    let cart = buyer.get("/cart/");
    let (action, mut fields) = cart.form("update_cart");
    for value in fields.iter_mut().filter(|(name, _)| name.starts_with("quantity")) {
        *value.1 = String::from("5");
    }
    assert_eq!(buyer.post_from(&action, &fields, "https://other.example").status, 403);
    fields.remove("_wpnonce");
    assert_eq!(buyer.post(&action, &fields).status, 403);
    assert!(buyer.get("/cart/").has("value=\"1\""));
    let (action, mut fields) = buyer.get("/checkout/").form("place_order");
    fields.remove("_wpnonce");
    assert_eq!(buyer.post(&action, &fields).status, 403);
}

#[test]
fn nobody_orders_for_a_total_that_they_did_not_see() {
    let (shop, _) = TestShop::furnished();
    let buyer = Browser::new(&shop);
    buyer.follow(&add(&buyer, "rope", "1"));
    let page = buyer.get("/checkout/");
    assert!(page.has("$16.50"), "{}", page.body);
    let abroad = [
        ADDRESS,
        &[
            ("billing_country", "DE"),
            ("billing_state", ""),
            ("billing_postcode", "10115"),
            ("payment_method", "bacs"),
        ],
    ];
    let abroad = abroad.concat();
    let asked = buyer.submit(&page, "place_order", &abroad);
    assert!(asked.status == 409 && asked.has("total has changed"), "{}", asked.body);
    assert!(asked.has("$15.00"), "no tax there: {}", asked.body);
    let placed = buyer.submit(&asked, "place_order", &[]);
    assert_eq!(placed.status, 302, "{}", placed.body);
    let made = shop.made("GET", "/wc/v3/orders", &Value::Null);
    assert_eq!((&made[0]["total"], &made[0]["billing"]["state"]), (&json!("15.00"), &json!("")));
}

#[test]
fn what_is_wrong_is_said_beside_the_field() {
    let (shop, _) = TestShop::furnished();
    let buyer = Browser::new(&shop);
    buyer.follow(&add(&buyer, "rope", "1"));
    let page = buyer.get("/checkout/");
    let typed = [ADDRESS, &[("billing_city", ""), ("payment_method", "bacs")]].concat();
    let refused = buyer.submit(&page, "place_order", &typed);
    assert_eq!(refused.status, 400);
    assert!(refused.has("id=\"billing_city-error\""), "{}", refused.body);
    assert!(refused.has("value=\"1 Pier Rd\""), "what was typed stays");
    let typed = [ADDRESS, &[("billing_postcode", "ABC"), ("payment_method", "bacs")]].concat();
    let refused = buyer.submit(&page, "place_order", &typed);
    assert!(refused.has("id=\"billing_postcode-error\""), "{}", refused.body);
    let typed = [ADDRESS, &[("billing_email", "no"), ("payment_method", "bacs")]].concat();
    let refused = buyer.submit(&page, "place_order", &typed);
    assert!(refused.has("id=\"billing_email-error\""), "{}", refused.body);
    let cart = buyer.get("/cart/");
    let refused = buyer.submit(&cart, "apply_coupon", &[("coupon_code", "nope")]);
    assert!(refused.status == 400 && refused.has("id=\"coupon-error\""), "{}", refused.body);
    let made = shop.made("GET", "/wc/v3/orders?status=any", &Value::Null);
    let placed = made.as_array().unwrap().iter().filter(|one| one["status"] != "checkout-draft");
    assert_eq!(placed.count(), 0);
}

#[test]
fn hostile_text_is_shown_as_text() {
    let (shop, _) = TestShop::furnished();
    let hostile = "Knot \"><img src=x onerror=alert(1)> & 'co'";
    let category = json!({ "name": hostile, "slug": "knots" });
    let category = shop.made("POST", "/wc/v3/products/categories", &category);
    shop.product(&json!({
        "name": hostile, "slug": "knot", "regular_price": "1",
        "short_description": "Fine <script>alert(1)</script>",
        "categories": [{ "id": category["id"] }],
        "images": [],
    }));
    let buyer = Browser::new(&shop);
    let check = |page: &Shown| {
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(!page.has("<img src=x") && !page.has("<script>"), "{}", page.body);
        assert!(page.has("Knot"), "{}", page.body);
    };
    for path in ["/product-category/knots/", "/product/knot/"] {
        check(&buyer.get(path));
    }
    let query = "/?post_type=product&s=Knot%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    check(&buyer.get(query));
    check(&buyer.follow(&add(&buyer, "knot", "1")));
    let page = buyer.get("/checkout/");
    let typed = [
        ADDRESS,
        &[
            ("billing_city", ""),
            ("billing_last_name", "\"><script>alert(1)</script>"),
            ("order_comments", "</textarea><script>alert(1)</script>"),
        ],
    ];
    let refused = buyer.submit(&page, "place_order", &typed.concat());
    assert!(refused.status == 400 && !refused.has("<script>"), "{}", refused.body);
}

#[test]
fn an_account_shows_its_orders_and_keeps_its_addresses() {
    let (shop, _) = TestShop::furnished();
    let body = json!({
        "email": "ada@example.test", "username": "ada", "password": "a long pass phrase",
    });
    shop.made("POST", "/wc/v3/customers", &body);
    let buyer = Browser::new(&shop);
    buyer.follow(&add(&buyer, "rope", "1"));
    let asked = buyer.get("/my-account/?redirect_to=/checkout/");
    let wrong = [("username", "ada"), ("password", "not this one")];
    let refused = buyer.submit(&asked, "login", &wrong);
    assert!(refused.status == 403 && refused.has("do not match"), "{}", refused.body);
    let right = [("username", "ada"), ("password", "a long pass phrase")];
    let welcome = buyer.submit(&asked, "login", &right);
    assert_eq!(welcome.header("location"), format!("{HOME}/checkout/"));
    assert!(buyer.follow(&welcome).has("Rope"), "the cart came along");
    assert_eq!(order(&buyer, "cod").status, 302);
    let orders = buyer.get("/my-account/orders/");
    assert!(orders.has("Processing") && orders.has("$16.50"), "{}", orders.body);
    let addresses = buyer.get("/my-account/edit-address/");
    assert!(addresses.has("1 Pier Rd"), "{}", addresses.body);
    let form = buyer.get("/my-account/edit-address/billing/");
    let refused = buyer.submit(&form, "save_address", &[("billing_city", "")]);
    assert!(refused.has("id=\"billing_city-error\""), "{}", refused.body);
    let saved = buyer.submit(&form, "save_address", &[("billing_city", "Alameda")]);
    assert!(buyer.follow(&saved).has("Alameda"));
    let out = buyer.get("/my-account/");
    assert!(out.has("action=logout"), "{}", out.body);
}

#[test]
fn bought_files_are_downloaded_as_often_and_as_long_as_they_may() {
    let (mut shop, _) = TestShop::furnished();
    let (ada, bob) = (shop.user("ada", Role::Customer), shop.user("bob", Role::Customer));
    let file = "https://files.example/chart.pdf";
    let product = shop.product(&json!({
        "name": "Chart", "regular_price": "5", "virtual": true, "downloadable": true,
        "download_limit": 1, "downloads": [{ "name": "Harbour chart", "file": file }],
    }));
    let body = json!({
        "status": "pending", "customer_id": ada, "billing": { "email": "ada@example.test" },
        "line_items": [{ "product_id": product, "quantity": 1 }],
    });
    let order = shop.made("POST", "/wc/v3/orders", &body);
    let reader = signed_in(&shop, ada);
    assert!(reader.get("/my-account/downloads/").has("There is nothing to download"));
    let path = format!("/wc/v3/orders/{}", order["id"]);
    shop.made("PUT", &path, &json!({ "status": "completed" }));
    let page = reader.get("/my-account/downloads/");
    assert!(page.has("Harbour chart") && page.has("<td>1</td>"), "{}", page.body);
    assert!(!signed_in(&shop, bob).get("/my-account/downloads/").has("Harbour chart"));
    let link = page.body.split("href=\"/?download_file=").nth(1).unwrap();
    let link = format!("/?download_file={}", link.split('"').next().unwrap());
    let link = link.replace("&#38;", "&").replace("&amp;", "&");
    let stranger = Browser::new(&shop);
    let wrong = stranger.get(&link.replace("order=wc_order_", "order=wc_order_x"));
    assert_eq!(wrong.status, 404);
    let setting = "/wc/v3/settings/products/woocommerce_downloads_require_login";
    shop.made("PUT", setting, &json!({ "value": "yes" }));
    assert_eq!(stranger.get(&link).status, 403);
    let taken = reader.get(&link);
    assert_eq!((taken.status, taken.header("location")), (302, file), "{}", taken.body);
    assert_eq!(reader.get(&link).status, 404, "it was used up");
    let left = shop.made("GET", &format!("/wc/v3/customers/{ada}/downloads"), &Value::Null);
    assert_eq!(left, json!([]));
}

#[test]
fn the_shop_can_be_the_front_page() {
    let (shop, _) = TestShop::furnished();
    let reader = Browser::new(&shop);
    assert!(!reader.get("/").has("/product/anchor/"));
    shop.write(|conn| {
        frame::options::set(conn, "show_on_front", &json!("page"))?;
        frame::options::set(conn, "page_on_front", &json!(7))?;
        frame::options::set(conn, "woocommerce_shop_page_id", &json!("7"))
    });
    shop.site.note_write();
    let front = reader.get("/");
    assert_eq!(front.status, 200);
    assert!(front.has("/product/anchor/"), "{}", front.body);
    assert!(!reader.get("/?p=1").has("/product/anchor/"), "other questions are the site's");
}
