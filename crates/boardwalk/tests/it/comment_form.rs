//! The form for comments below a post, as a reader without an account uses it.

use serde_json::{Value, json};
use testkit::http::{self, Request, Response};

use crate::support::{Running, Site};

const TARGET: &str = "/wp-comments-post.php";

struct Blog {
    running: Running,
    authorization: String,
    _site: Site,
}

impl Blog {
    fn new(site: Site) -> Self {
        let authorization = site.administrator();
        let running = site.serve();
        Self { running, authorization, _site: site }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/wp-json/wp/v2{path}");
        let request = Request::new(method, &path)
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json")
            .body(body.to_string().into_bytes());
        let answer = http::send(&self.running.url, &request).unwrap();
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json().unwrap()
    }

    fn comment(&self, fields: &str, headers: &[(&str, &str)]) -> Response {
        let request = Request::new("POST", TARGET)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(fields.as_bytes().to_vec());
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        http::send(&self.running.url, &request).unwrap()
    }

    fn page(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        http::get(&self.running.url, path, headers).unwrap()
    }
}

on_both_engines!(a_stranger_comments);

fn a_stranger_comments(site: Site) {
    let blog = Blog::new(site);
    let post = blog.ask("POST", "/posts", &json!({ "title": "Tide", "status": "publish" }));
    let (id, path) = (post["id"].as_i64().unwrap(), "/tide/");
    let page = blog.page(path, &[]).text();
    assert!(page.contains(&format!("name=\"comment_post_ID\" value=\"{id}\"")), "{page}");

    let said = |comment: &str| {
        format!(
            "comment_post_ID={id}&comment_parent=0&author=Gus+Mast&email=gus%40example.test\
             &url=&comment={comment}&submit=Send"
        )
    };
    let foreign = blog.comment(&said("Spam"), &[("Origin", "https://other.example")]);
    assert_eq!(foreign.status, 403);
    for wrong in ["", "comment_post_ID=999999&comment=x&author=a&email=a%40b.example", "comment=x"]
    {
        assert_eq!(blog.comment(wrong, &[]).status, 403, "{wrong}");
    }
    assert_eq!(blog.comment(&said(""), &[]).status, 400, "an empty one");
    let nameless = format!("comment_post_ID={id}&comment=x&author=&email=");
    assert_eq!(blog.comment(&nameless, &[]).status, 400);

    let words = "High%3Cscript%3Ealert(1)%3C/script%3E+water";
    let fields = format!("{}&wp-comment-cookies-consent=yes", said(words));
    let held = blog.comment(&fields, &[]);
    assert_eq!(held.status, 200, "{}", held.text());
    assert!(held.text().contains("once it is approved"));
    let cookies: Vec<String> = held
        .headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .map(|(_, cookie)| cookie.split(';').next().unwrap().to_owned())
        .collect();
    assert!(cookies.contains(&String::from("comment_author=Gus%20Mast")), "{cookies:?}");
    assert!(!blog.page(path, &[]).text().contains("Gus"), "nobody sees it yet");
    let remembered = blog.page(path, &[("Cookie", &cookies.join("; "))]);
    assert!(remembered.text().contains("value=\"Gus Mast\""));
    assert_eq!(remembered.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(blog.comment(&said(words), &[]).status, 409, "the same again");
    assert_eq!(blog.comment(&said("More"), &[]).status, 400, "too fast");

    let waiting = blog.ask("GET", "/comments?status=hold", &json!({}));
    let comment = waiting[0]["id"].as_i64().unwrap();
    assert_eq!(
        (&waiting[0]["author"], &waiting[0]["author_name"]),
        (&json!(0), &json!("Gus Mast"))
    );
    blog.ask("PUT", &format!("/comments/{comment}"), &json!({ "status": "approved" }));
    let page = blog.page(path, &[]).text();
    assert!(page.contains(&format!("id=\"comment-{comment}\"")), "{page}");
    assert!(!page.contains("<script"), "{page}");

    blog.ask("PUT", &format!("/posts/{id}"), &json!({ "comment_status": "closed" }));
    assert!(!blog.page(path, &[]).text().contains(TARGET));
    assert_eq!(blog.comment(&said("Late"), &[]).status, 403);
    assert_eq!(blog.page(TARGET, &[("Accept", "text/html")]).status, 405);
}
