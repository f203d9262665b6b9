//! Rows of the site to test with, which other rows may refer to. No two columns of a type are
//! alike, as far as that is possible.

use site_rows::post::PostRow;
use site_rows::term::TermRow;
use site_rows::user::UserRow;
use types::Role;

use crate::database::time;

pub fn user(login: &str) -> UserRow {
    UserRow {
        user_id: 0,
        login: login.to_owned(),
        email: format!("{login}@example.com"),
        password_hash: None,
        roles: vec![Role::ShopManager, Role::IsoAdmin],
        display_name: format!("{login} Displayed"),
        nicename: login.to_lowercase(),
        first_name: "First".to_owned(),
        last_name: "Løst".to_owned(),
        nickname: "Nick".to_owned(),
        description: "<b>\n".to_owned(),
        url: format!("https://{login}.example/"),
        locale: "en_US".to_owned(),
        registered: time(12),
        meta: r#"{"a":[1]}"#.to_owned(),
        iso_id: Some("iso_1".to_owned()),
        merchant_id: None,
        store_id: None,
    }
}

pub fn post(slug: &str) -> PostRow {
    PostRow {
        post_id: 0,
        kind: "post".to_owned(),
        status: "publish".to_owned(),
        slug: slug.to_owned(),
        title: format!("Title {slug}"),
        content: "<p>Ünder the pier</p>".to_owned(),
        excerpt: "Short".to_owned(),
        author_id: 1,
        parent_id: 0,
        menu_order: -3,
        comment_status: "open".to_owned(),
        ping_status: "closed".to_owned(),
        template: "wide".to_owned(),
        format: "aside".to_owned(),
        sticky: true,
        password: "secret".to_owned(),
        featured_media: 7,
        date: time(20),
        date_gmt: None,
        modified: time(21),
        modified_gmt: time(22),
        trashed_status: Some("draft".to_owned()),
        trashed: Some(time(23)),
        meta: r#"{"a":null}"#.to_owned(),
    }
}

pub fn term(taxonomy: &str, slug: &str) -> TermRow {
    TermRow {
        term_id: 0,
        taxonomy: taxonomy.to_owned(),
        name: slug.to_uppercase(),
        slug: slug.to_owned(),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: "{}".to_owned(),
    }
}
