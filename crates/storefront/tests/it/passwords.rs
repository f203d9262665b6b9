//! Products with a password: what is seen without it, with it, and by those who guess.

use serde_json::{Value, json};

use super::browser::{Browser, Shown};
use super::support::{STORE, TestShop};

const PATH: &str = "/product/chest/";

fn shop() -> (TestShop, i64) {
    let (shop, _) = TestShop::furnished();
    let chest = shop.product(&json!({
        "name": "Chest", "regular_price": "9", "description": "Full of gold.",
        "post_password": "open sesame",
    }));
    (shop, chest)
}

fn typed(reader: &Browser<'_>, password: &str) -> Shown {
    reader.submit(&reader.get(PATH), "Submit", &[("post_password", password)])
}

fn cookie_of(reader: &Browser<'_>) -> Option<String> {
    reader.cookie("wp-postpass_").map(|(name, value)| format!("{name}={value}"))
}

#[test]
fn a_password_opens_the_product_for_the_browser_that_was_told() {
    let (shop, chest) = shop();
    let reader = Browser::new(&shop);
    let page = reader.get(PATH);
    assert!(page.has("<h1>Protected: Chest</h1>") && page.has("name=\"post_password\""));
    assert_eq!(page.header("cache-control"), "no-store");
    for hidden in ["gold", "9.00", "add-to-cart", "Write a review"] {
        assert!(!page.has(hidden), "{hidden}: {}", page.body);
    }
    let refused = reader.post(PATH, &[("add-to-cart".into(), chest.to_string())].into());
    assert_eq!((refused.status, refused.has("gold")), (400, false), "{}", refused.body);

    let wrong = typed(&reader, "Open Sesame");
    assert_eq!((wrong.status, cookie_of(&reader)), (403, None));
    assert!(wrong.has("role=\"alert\"") && wrong.has("<h1>Protected: Chest</h1>"));
    assert_eq!(wrong.header("cache-control"), "no-store");
    let right = reader.submit(&wrong, "Submit", &[("post_password", "open sesame")]);
    let page = reader.follow(&right);
    assert!(page.has("Full of gold.") && page.has("<h1>Protected: Chest</h1>"), "{}", page.body);
    assert_eq!(page.header("cache-control"), "no-store");
    assert!(!cookie_of(&reader).unwrap().contains("sesame"), "no cookie tells a password");
    let added = reader.submit(&page, "add-to-cart", &[("quantity", "1")]);
    assert!(reader.follow(&added).has("Chest"));
    assert!(page.has("Write a review"));
    let words = [("comment", "Heavy."), ("author", "Ada"), ("email", "a@example.test")];
    let said = reader.submit(&page, "comment", &[&words[..], &[("rating", "5")]].concat());
    assert!(said.has("once it is approved"), "{}", said.body);
    assert!(!Browser::new(&shop).get(PATH).has("gold"), "nobody else was told");
    shop.made("PUT", &format!("/wc/v3/products/{chest}"), &json!({ "post_password": "other" }));
    assert!(!reader.get(PATH).has("gold"), "another password was not told");
}

#[test]
fn programs_see_what_the_browser_was_told_and_nobody_keeps_it() {
    let (shop, chest) = shop();
    let path = format!("{STORE}/products/{chest}");
    let open = shop.get(&path, "");
    assert_eq!(open.json["is_password_protected"], true);
    assert_eq!((open.json["description"].as_str(), open.header("cache-control")), (Some(""), ""));
    let review = json!({
        "product_id": chest, "review": "Heavy.", "reviewer": "Ada",
        "reviewer_email": "a@example.test", "rating": 5,
    });
    shop.made("POST", "/wc/v3/products/reviews", &review);
    let reviews = format!("{STORE}/products/reviews?product_id={chest}");
    assert_eq!(shop.get(&reviews, "").json, json!([]));
    let reader = Browser::new(&shop);
    typed(&reader, "open sesame");
    let cookie = vec![(String::from("cookie"), cookie_of(&reader).unwrap())];
    let told = shop.send("GET", &path, cookie.clone(), &Value::Null);
    assert_eq!(told.json["is_password_protected"], false);
    assert!(told.json["description"].as_str().unwrap().contains("gold"), "{}", told.json);
    assert_eq!(told.header("cache-control"), "no-store");
    let told = shop.send("GET", &reviews, cookie, &Value::Null);
    assert_eq!((told.each("rating"), told.header("cache-control")), (vec![json!(5)], "no-store"));
}

#[test]
fn a_variation_is_as_closed_as_its_product() {
    let (shop, _) = TestShop::furnished();
    let coat = shop.product(&json!({
        "name": "Coat", "type": "variable", "post_password": "open sesame",
        "attributes": [{ "name": "Size", "options": ["S"], "variation": true }],
    }));
    let size = json!({
        "regular_price": "5", "description": "Lined with gold.",
        "attributes": [{ "name": "Size", "option": "S" }],
    });
    let made = shop.made("POST", &format!("/wc/v3/products/{coat}/variations"), &size);
    let path = format!("{STORE}/products/{}", made["id"]);
    for path in [&path, &format!("{STORE}/products?type=variation")] {
        let open = shop.get(path, "");
        assert_eq!((open.status, open.json.to_string().contains("gold")), (200, false), "{path}");
    }
    assert_eq!(shop.get(&path, "").json["is_password_protected"], true);
    let reader = Browser::new(&shop);
    let page = reader.get("/product/coat/");
    reader.submit(&page, "Submit", &[("post_password", "open sesame")]);
    let cookie = vec![(String::from("cookie"), cookie_of(&reader).unwrap())];
    let told = shop.send("GET", &path, cookie, &Value::Null);
    assert!(told.json["description"].as_str().unwrap().contains("gold"), "{}", told.json);
}

#[test]
fn a_browser_remembers_several_passwords_and_nobody_makes_such_a_cookie() {
    let (shop, _) = shop();
    for number in 0..12 {
        let body = json!({ "name": format!("Box {number}"), "regular_price": "1",
            "description": "Silver.", "post_password": format!("p{number}") });
        shop.product(&body);
    }
    let reader = Browser::new(&shop);
    for number in 0..12 {
        let page = reader.get(&format!("/product/box-{number}/"));
        let right = reader.submit(&page, "Submit", &[("post_password", &format!("p{number}"))]);
        assert_eq!(right.status, 302, "{}", right.body);
    }
    assert!(
        reader.get("/product/box-11/").has("Silver.")
            && reader.get("/product/box-4/").has("Silver.")
    );
    assert!(!reader.get("/product/box-3/").has("Silver."), "the oldest is forgotten");
    let (name, value) = reader.cookie("wp-postpass_").unwrap();
    assert!(value.len() < 200, "{value}");
    for forged in ["", ".", "p11", "open sesame", &"a".repeat(4_000), &"..".repeat(500)] {
        let other = Browser::new(&shop);
        other.set_cookie(&name, forged);
        assert!(!other.get("/product/box-11/").has("Silver."), "{forged}");
    }
}

#[test]
fn a_password_leads_nowhere_else_and_guesses_must_wait() {
    let (shop, _) = shop();
    let reader = Browser::new(&shop);
    let (action, fields) = reader.get(PATH).form("Submit");
    assert_eq!(action, "/wp-login.php?action=postpass");
    let with = |target: &str, password: &str| {
        let mut fields = fields.clone();
        fields.insert(String::from("redirect_to"), target.to_owned());
        fields.insert(String::from("post_password"), password.to_owned());
        fields
    };
    for target in ["https://evil.example/", "//evil.example", "/product/none/", ""] {
        let answer = reader.post(&action, &with(target, "open sesame"));
        assert_eq!((answer.status, answer.header("location")), (404, ""), "{target}");
        assert_eq!(cookie_of(&reader), None, "{target}");
    }
    let open = reader.post(&action, &with("/product/anchor/", "open sesame"));
    assert_eq!((open.status, cookie_of(&reader)), (302, None), "it opens nothing there");
    let foreign = reader.post_from(&action, &with(PATH, "open sesame"), "https://evil.example");
    assert_eq!((foreign.status, cookie_of(&reader)), (403, None));
    assert_eq!(reader.get(&action).status, 302);
    let told = (0..200).find_map(|number| {
        let answer = reader.post(&action, &with(PATH, &number.to_string()));
        (answer.status == 429).then(|| answer.header("retry-after").parse::<u64>().unwrap())
    });
    assert!(told.is_some_and(|seconds| seconds > 0));
    let late = reader.post(&action, &with(PATH, "open sesame"));
    assert_eq!((late.status, cookie_of(&reader)), (429, None), "not even the right one counts");
    assert!(!late.has("gold"));
}
