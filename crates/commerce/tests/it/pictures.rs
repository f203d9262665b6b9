//! Pictures of products, variations, categories and brands that are items of the media library:
//! fetched from their addresses, named by number, shown as the library knows them.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use site_rows::media::{self, MediaRow};

use super::support::{ADMIN, HOME, TestShop};

const ADDRESS: &str = "https://pictures.example/blue-tee.png";

fn network(address: &str) -> Option<Vec<u8>> {
    match address {
        ADDRESS => {
            let mut file = Cursor::new(Vec::new());
            DynamicImage::new_rgb8(4, 3).write_to(&mut file, ImageFormat::Png).unwrap();
            Some(file.into_inner())
        }
        "https://pictures.example/page.png" => Some(b"<html>".to_vec()),
        _ => None,
    }
}

fn made(shop: &TestShop, path: &str, body: &Value) -> Value {
    let answer = shop.ask("POST", path, ADMIN, body);
    assert_eq!(answer.status, 201, "{path}: {}", answer.json);
    answer.json
}

#[test]
fn pictures_are_fetched_into_the_library() {
    let shop = TestShop::beside(network);
    let images = json!([{ "src": ADDRESS, "alt": "A tee" }]);
    let product = made(&shop, "/wc/v3/products", &json!({ "name": "Tee", "images": images }));
    let image = &product["images"][0];
    let local = format!("{HOME}/wp-content/uploads/2026/11/blue-tee.png");
    assert_eq!((&image["src"], &image["alt"]), (&json!(local), &json!("A tee")));
    assert_eq!(image["name"], "blue-tee");
    assert_eq!(shop.files(), ["2026/11/blue-tee.png"]);
    // The same address, or our own, is the same picture.
    for src in [ADDRESS, &local] {
        let other = made(&shop, "/wc/v3/products", &json!({ "images": [{ "src": src }] }));
        assert_eq!(other["images"][0]["id"], image["id"], "{src}");
    }
    let batch = json!({ "create": [{ "name": "B", "images": [{ "src": ADDRESS }] }] });
    let batch = shop.ask("POST", "/wc/v3/products/batch", ADMIN, &batch).json;
    assert_eq!(batch["create"][0]["images"][0]["id"], image["id"]);
    assert_eq!(shop.files().len(), 1);
    // What is no picture, or nowhere, stays an address.
    for src in ["https://pictures.example/page.png", "https://pictures.example/none.png"] {
        let other = made(&shop, "/wc/v3/products", &json!({ "images": [{ "src": src }] }));
        assert_eq!(other["images"][0]["src"], src);
    }
    assert_eq!(shop.files().len(), 1);
}

#[test]
fn pictures_are_shown_as_the_library_knows_them() {
    let shop = TestShop::beside(network);
    let product = json!({ "name": "Tee", "type": "variable", "images": [{ "src": ADDRESS }] });
    let product = made(&shop, "/wc/v3/products", &product);
    let id = product["images"][0]["id"].as_i64().unwrap();
    let own = format!("/wc/v3/products/{}", product["id"]);
    let variation = json!({ "image": { "id": id } });
    let variation = made(&shop, &format!("{own}/variations"), &variation);
    let category = json!({ "name": "Tees", "image": { "id": id } });
    let category = made(&shop, "/wc/v3/products/categories", &category);
    let brand =
        made(&shop, "/wc/v3/products/brands", &json!({ "name": "B", "image": { "id": id } }));
    let places = [
        (own.clone(), "/images/0"),
        (format!("{own}/variations/{}", variation["id"]), "/image"),
        (format!("/wc/v3/products/categories/{}", category["id"]), "/image"),
        (format!("/wc/v3/products/brands/{}", brand["id"]), "/image"),
    ];
    shop.write(move |conn| {
        let known = media::get(conn, id)?.unwrap();
        media::update(conn, &MediaRow { alt_text: String::from("New words"), ..known })
    });
    for (path, place) in &places {
        let shown = shop.get(path, ADMIN).json;
        let image = shown.pointer(place).unwrap();
        assert_eq!((&image["id"], &image["alt"]), (&json!(id), &json!("New words")), "{path}");
        let local = format!("{HOME}/wp-content/uploads/2026/11/blue-tee.png");
        assert_eq!(image["src"], local, "{path}");
    }
    let said = json!({ "images": [{ "id": id, "alt": "Said", "name": "Called" }] });
    shop.ask("PUT", &own, ADMIN, &said);
    let alt = shop.read(move |conn| Ok(media::get(conn, id)?.unwrap().alt_text));
    assert_eq!(alt, "Said");
    let unknown = json!({ "images": [{ "id": 4711 }] });
    let refused = shop.ask("PUT", &own, ADMIN, &unknown);
    assert_eq!(refused.refusal(), (400, "woocommerce_product_invalid_image_id"));
    // Who deletes a picture deletes it everywhere.
    shop.write(move |conn| {
        media::delete(conn, id)?;
        site_rows::post::delete(conn, id)
    });
    for (path, place) in &places {
        let shown = shop.get(path, ADMIN).json;
        assert!(shown.pointer(place).is_none_or(Value::is_null), "{path}: {shown}");
    }
}
