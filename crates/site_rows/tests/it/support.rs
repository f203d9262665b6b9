//! Databases to test on, and rows to put in them.

use site_rows::application_password::ApplicationPasswordRow;
use site_rows::consumer_key::ConsumerKeyRow;
use site_rows::revision::RevisionRow;
use site_rows::session::SessionRow;

pub(crate) use testkit::database::{TestDatabase, count, time, together};
pub(crate) use testkit::rows::{post, term, user};

pub(crate) fn application_password(user_id: i64, uuid: &str) -> ApplicationPasswordRow {
    ApplicationPasswordRow {
        user_id,
        uuid: uuid.to_owned(),
        app_id: String::new(),
        name: format!("program {uuid}"),
        hash: vec![0, 255, 7],
        created: time(14),
        last_used: None,
        last_ip: None,
    }
}

pub(crate) fn consumer_key(user_id: i64, key_hash: &[u8]) -> ConsumerKeyRow {
    ConsumerKeyRow {
        key_id: 0,
        user_id,
        description: "till".to_owned(),
        permissions: "read_write".to_owned(),
        key_hash: key_hash.to_vec(),
        secret_sealed: vec![9; 40],
        truncated_key: "abcdef7".to_owned(),
        created: time(15),
        last_access: None,
    }
}

pub(crate) fn session(user_id: i64, token_hash: &[u8], expires: i64) -> SessionRow {
    SessionRow {
        token_hash: token_hash.to_vec(),
        user_id,
        created: time(16),
        expires: time(expires),
        ip: "::1".to_owned(),
        user_agent: "browser".to_owned(),
    }
}

pub(crate) fn revision(post_id: i64, title: &str) -> RevisionRow {
    RevisionRow {
        revision_id: 0,
        post_id,
        author_id: 7,
        title: title.to_owned(),
        content: String::from("content"),
        excerpt: String::new(),
        date: time(3),
        date_gmt: time(2),
    }
}
