//! The public pages: what is shown, where it is, and which headers say so.

use site_rows::post::PostRow;
use types::Environment;

use crate::web_support::{Shop, post};

const API: &str = "<https://shop.example/wp-json/>; rel=\"https://api.w.org/\"";

fn shop() -> Shop {
    let shop = Shop::new(Environment::Production);
    let hello = post("post", "hello-world", "Hello &amp; <em>world</em>", "<p>First words.</p>");
    shop.add_post(hello);
    let about = shop.add_post(post("page", "about", "About", "<p>About us.</p>"));
    let team = post("page", "team", "Team", "<p>The team.</p>");
    shop.add_post(PostRow { parent_id: about, ..team });
    let draft = post("post", "secret-plan", "Secret plan", "<p>Not yet.</p>");
    shop.add_post(PostRow { status: String::from("draft"), ..draft });
    let closed = post("post", "closed", "Closed", "<p>Hidden words.</p>");
    shop.add_post(PostRow { password: String::from("sesame"), ..closed });
    shop
}

#[test]
fn pages_are_where_their_addresses_say() {
    let shop = shop();
    let mut browser = shop.browser();
    for (path, status, text) in [
        ("/", 200, "Hello &#38; world"),
        ("/hello-world/", 200, "First words."),
        ("/about/", 200, "About us."),
        ("/about/team/", 200, "The team."),
        ("/author/anna/", 200, "Anna Example"),
        ("/docs/", 200, "Onboarding guide"),
        ("/docs/?q=idempotency", 200, "Search the documentation"),
        ("/docs/rest/", 200, "<h1"),
        ("/docs/examples/full.json", 200, "merchantData"),
        ("/docs/rest/embed/", 200, "target=\"_top\""),
        ("/hello-world/embed/", 200, "Hello &#38; world"),
        ("/secret-plan/", 404, "Error 404"),
        ("/?p=4", 404, "Error 404"),
        ("/author/nobody/", 404, "Error 404"),
        ("/author/%00/", 404, "Error 404"),
        ("/docs/nothing/", 404, "Error 404"),
        ("/docs/examples/nothing.json", 404, "Error 404"),
        ("/nothing/embed/", 404, "Error 404"),
        ("/..%2f..%2fetc/passwd", 404, "Error 404"),
        ("/closed/", 200, "name=\"post_password\""),
        ("/wp-login.php", 200, "name=\"pwd\""),
        ("/login", 200, "name=\"pwd\""),
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert!(answer.has(text), "{path}: {}", answer.body);
        assert!(!answer.has("Hidden words") && !answer.has("Not yet."), "{path}");
        let head = browser.head(path);
        assert_eq!((head.status, head.body.as_str()), (status, ""), "{path}");
        assert_eq!(head.header("content-type"), answer.header("content-type"), "{path}");
        let length: usize = head.header("content-length").parse().unwrap();
        assert!(length > 0, "{path}");
    }
}

#[test]
fn addresses_lead_to_the_one_address_of_a_page() {
    let shop = shop();
    let mut browser = shop.browser();
    for (path, expected) in [
        ("/hello-world", "/hello-world/"),
        ("/hello-world?a=b", "/hello-world/?a=b"),
        ("/about/team", "/about/team/"),
        ("/team/", "/about/team/"),
        ("/?p=9", "/hello-world/"),
        ("/?page_id=11", "/about/team/"),
        ("/?p=9&embed=true", "/hello-world/embed/"),
        ("/hello-world/embed", "/hello-world/embed/"),
        ("/author/anna", "/author/anna/"),
        ("/docs", "/docs/"),
        ("/docs/rest", "/docs/rest/"),
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 301, "{path}: {answer:?}");
        assert_eq!(answer.location(), format!("https://shop.example{expected}"), "{path}");
    }
    let admin = browser.get("/wp-admin/");
    assert_eq!((admin.status, admin.location()), (302, "https://shop.example/portal/"));
}

#[test]
fn headers_say_what_a_browser_may_do_and_where_the_interface_is() {
    let shop = shop();
    let mut browser = shop.browser();
    let json = |path: &str| {
        let address = format!("https://shop.example/wp-json{path}");
        let kind = "rel=\"alternate\"; title=\"JSON\"; type=\"application/json\"";
        format!("{API}, <{address}>; {kind}")
    };
    for (path, link) in [
        ("/", API.to_owned()),
        ("/hello-world/", json("/wp/v2/posts/9")),
        ("/about/", json("/wp/v2/pages/10")),
        ("/author/anna/", json("/wp/v2/users/1")),
        ("/docs/", API.to_owned()),
        ("/docs/rest/", json("/boardwalk/v1/pages/rest")),
        ("/hello-world/embed/", API.to_owned()),
        ("/wp-login.php", API.to_owned()),
        ("/nothing/", API.to_owned()),
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.all("link"), [link.as_str()], "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(!answer.header("referrer-policy").is_empty(), "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        let framed = path.ends_with("/embed/");
        assert_eq!(policy.contains("frame-ancestors *"), framed, "{path}: {policy}");
        let frames = if framed { "" } else { "DENY" };
        assert_eq!(answer.header("x-frame-options"), frames, "{path}");
        let kept =
            if path == "/wp-login.php" || path == "/nothing/" { "no-store" } else { "no-cache" };
        assert_eq!(answer.header("cache-control"), kept, "{path}");
        assert!(answer.header("x-request-id").starts_with("req_"), "{path}");
    }
    browser.sign_in("anna");
    assert_eq!(browser.get("/hello-world/").header("cache-control"), "no-store");
}

#[test]
fn a_post_says_how_it_is_embedded() {
    let shop = shop();
    let page = shop.browser().get("/hello-world/");
    let url = "https%3A%2F%2Fshop.example%2Fhello-world%2F";
    for format in ["", "&#38;format=xml"] {
        let address = format!("https://shop.example/wp-json/oembed/1.0/embed?url={url}{format}\"");
        assert!(page.has(&address), "{address} is not in {}", page.body);
    }
    // The address works as it stands in the page.
    let answer = shop.browser().get(&format!("/wp-json/oembed/1.0/embed?url={url}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        answer.has("hello-world\\/embed\\/#?secret=") || answer.has("hello-world/embed/#?secret=")
    );
}

#[test]
fn programs_get_json_where_there_is_no_page() {
    let shop = shop();
    for (method_and_path, accept, is_json) in [
        ("/nothing", "", true),
        ("/nothing", "*/*", true),
        ("/nothing", "application/json", true),
        ("/nothing", "text/html", false),
        ("/v1/nothing", "text/html", true),
        ("/v1", "text/html", true),
    ] {
        let mut browser = shop.browser();
        browser.set("Accept", accept);
        let answer = browser.get(method_and_path);
        assert_eq!(answer.status, 404, "{method_and_path} {accept}");
        assert_eq!(answer.has("\"errors\":["), is_json, "{method_and_path} {accept}: {answer:?}");
    }
    // Pages do not depend on it, and forms go to forms only.
    let mut program = shop.browser();
    program.set("Accept", "");
    assert_eq!(program.get("/").status, 200);
    assert!(program.post("/hello-world/", &[("a", "b")]).has("\"errors\":["));
}

#[test]
fn markup_of_titles_and_names_is_text() {
    let shop = shop();
    let hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>";
    shop.add_user("mallory", hostile);
    let title = "<script>alert(1)</script>&lt;script&gt;alert(2)&lt;/script&gt;";
    let row = post("post", "hostile", title, "<p>Fine.</p>");
    let excerpt = "&lt;img src=x onerror=alert(3)&gt;".to_owned();
    shop.add_post(PostRow { author_id: 2, excerpt, ..row });
    let mut browser = shop.browser();
    let query = crate::web_support::encoded(hostile);
    let search = format!("/docs/?q={query}");
    for path in ["/", "/hostile/", "/hostile/embed/", "/author/mallory/", &search] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.has("<script") && !answer.has("<img"), "{path}: {}", answer.body);
    }
}

#[test]
fn the_front_page_may_be_a_page() {
    let shop = shop();
    let options = [("show_on_front", "\"page\""), ("page_on_front", "10")];
    shop.platform
        .store
        .write_blocking(move |conn| {
            for (name, value) in options {
                let value = serde_json::from_str(value).unwrap();
                frame::options::set(conn, name, &value)?;
            }
            Ok(())
        })
        .unwrap();
    let answer = shop.browser().get("/");
    assert!(answer.has("About us."), "{}", answer.body);
}

#[test]
fn the_administration_is_in_the_portal() {
    let shop = shop();
    let page = shop.add_post(post("page", "visit-us", "Visit us", "<p>Here.</p>"));
    let draft = shop.add_post(PostRow {
        status: String::from("draft"),
        ..post("page", "soon", "Soon", "<p>Later.</p>")
    });
    let (published, hidden) =
        (format!("post.php?post={page}&action=edit"), format!("post.php?post={draft}&action=edit"));
    let own = format!("/?p={page}");
    for (known, expected) in [
        ("", "/portal/"),
        (
            "admin.php?page=wc-admin&path=/analytics/products&products=7",
            "/portal/analytics/products?products=7",
        ),
        ("admin.php?page=wc-admin&path=%2Flaunch-your-store", "/portal/store/setup"),
        (
            "admin.php?page=wc-settings&tab=checkout&section=cod",
            "/portal/store/settings/checkout?section=cod",
        ),
        ("edit.php?post_type=shop_order", "/portal/store/orders?post_type=shop_order"),
        ("post.php?post=99999&action=edit", "/portal/?post=99999&action=edit"),
        (published.as_str(), own.as_str()),
    ] {
        let answer = shop.browser().get(&format!("/wp-admin/{known}"));
        let location = answer.location().strip_prefix("https://shop.example").unwrap_or_default();
        assert_eq!((answer.status, location), (302, expected), "{known}");
    }
    let answer = shop.browser().get(&format!("/wp-admin/{hidden}"));
    assert!(answer.location().starts_with("https://shop.example/portal/?"), "{answer:?}");
    assert_eq!(shop.browser().get("/wp-admin/nothing").status, 404);
}

#[test]
fn a_demo_store_says_so_on_every_page() {
    let shop = shop();
    let mut browser = shop.browser();
    let set = |name: &'static str, value: &'static str| {
        let value = serde_json::json!(value);
        let write = move |conn: &mut dyn db::Conn| frame::options::set(conn, name, &value);
        shop.platform.store.write_blocking(write).unwrap();
        // Options are looked at again after a moment.
        std::thread::sleep(std::time::Duration::from_secs(1));
    };
    assert!(!browser.get("/about/").has("class=\"banner\""));
    set("woocommerce_demo_store", "yes");
    assert!(browser.get("/about/").has("This is a demo store."));
    set("woocommerce_demo_store_notice", "Only <trying> it out");
    for path in ["/", "/about/", "/docs/"] {
        let page = browser.get(path);
        assert!(page.has("Only &#60;trying&#62; it out"), "{path}: {}", page.body);
    }
}

#[test]
fn strangers_are_answered_in_the_form_that_the_operator_chose() {
    use onboarding::dialect::ResponseStyle;

    for (style, message) in [
        (ResponseStyle::Detailed, "Access denied, invalid authorization token!"),
        (ResponseStyle::Summary, "Unauthorized Access / Forbidden"),
    ] {
        let choices =
            onboarding::Settings { response_style: style, ..onboarding::Settings::default() };
        let shop = Shop::with_choices(Environment::Production, choices);
        let answer = shop.browser().get("/v1/merchants");
        let expected = format!("{{\"message\":\"{message}\",\"errors\":[]}}");
        assert_eq!((answer.status, answer.body), (401, expected));
    }
}

#[test]
fn a_password_opens_a_post_with_its_comments() {
    let shop = shop();
    let members = post("page", "members", "Members", "<p>Hidden words of members.</p>");
    shop.add_post(PostRow { password: String::from("other"), ..members });
    let talk = post("post", "talk", "Talk", "<p>Hidden words.</p>");
    let open = String::from("open");
    let talk = PostRow { password: String::from("sesame"), comment_status: open, ..talk };
    let id = shop.add_post(talk).to_string();
    let mut browser = shop.browser();
    browser.set("Origin", "https://shop.example");
    let words = [
        ("comment_post_ID", id.as_str()),
        ("comment", "Hear, hear."),
        ("author", "Ada"),
        ("email", "ada@example.test"),
    ];
    let page = browser.get("/talk/");
    assert!(page.has("<h1>Protected: Talk</h1>") && !page.has("Leave a comment"), "{}", page.body);
    assert_eq!(page.header("cache-control"), "no-store");
    assert_ne!(browser.post("/wp-comments-post.php", &words).status, 200);
    let target = page.field("redirect_to");
    assert_eq!(target, "https://shop.example/talk/");
    let mut type_in = |password: &str| {
        let fields = [("redirect_to", target.as_str()), ("post_password", password)];
        browser.post("/wp-login.php?action=postpass", &fields)
    };
    let wrong = type_in("Sesame");
    assert_eq!((wrong.status, wrong.all("set-cookie").len()), (403, 0), "{wrong:?}");
    assert!(wrong.has("The password is not correct") && !wrong.has("Hidden words"));
    let right = type_in("sesame");
    assert_eq!((right.status, right.location()), (302, target.as_str()));
    let cookie = right.header("set-cookie");
    assert!(cookie.starts_with("wp-postpass_") && cookie.contains("; HttpOnly"), "{cookie}");
    assert!(cookie.contains("; Secure") && !cookie.contains("sesame"), "{cookie}");
    let page = browser.get("/talk/");
    assert!(page.has("Hidden words.") && page.has("Leave a comment"), "{}", page.body);
    assert_eq!(page.header("cache-control"), "no-store");
    let closed = browser.get("/closed/");
    assert!(!closed.has("Hidden words"), "it would tell authors the passwords of others");
    assert!(!browser.get("/members/").has("Hidden words"));
    assert!(!browser.get("/feed/").has("Hidden words"), "feeds stay as they are");
    assert!(!browser.get("/talk/embed/").has("Hidden words"));
    let said = browser.post("/wp-comments-post.php", &words);
    assert_eq!((said.status, said.has("Error")), (200, false), "{}", said.body);
    assert!(said.has("once it is approved"), "{}", said.body);
    assert!(!shop.browser().get("/talk/").has("Hidden words"), "nobody else was told");
}
