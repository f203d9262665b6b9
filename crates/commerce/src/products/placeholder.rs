//! The picture that stands for a product without one, in every size the same.

use db::Conn;
use frame::{FileFound, FileSource, Site};
use types::{Result, Timestamp};

use super::show::PLACEHOLDER;

const ENDING: &str = ".webp";
/// A light square of 1,200 pixels, which `WebP` says in one colour.
const PICTURE: [u8; 32] = [
    82, 73, 70, 70, 24, 0, 0, 0, 87, 69, 66, 80, 86, 80, 56, 76, 12, 0, 0, 0, 47, 175, 196, 43, 1,
    40, 123, 213, 235, 222, 255, 0,
];

#[derive(Debug)]
pub struct PlaceholderFile;

impl FileSource for PlaceholderFile {
    fn may_be_at(&self, path: &str, _: &str) -> bool {
        let stem = PLACEHOLDER.strip_suffix(ENDING).unwrap_or(PLACEHOLDER);
        let size = path.strip_prefix(stem).and_then(|rest| rest.strip_suffix(ENDING));
        size.is_some_and(is_size)
    }

    fn file_at(
        &self,
        _: &Site,
        _: &mut dyn Conn,
        _: &str,
        _: Timestamp,
    ) -> Result<Option<FileFound>> {
        Ok(Some(FileFound {
            name: String::from("woocommerce-placeholder.webp"),
            media_type: "image/webp",
            key: String::new(),
            parts: 1,
            bytes: PICTURE.len(),
        }))
    }

    fn part(&self, _: &mut dyn Conn, _: &str, _: i64) -> Result<Option<Vec<u8>>> {
        Ok(Some(PICTURE.to_vec()))
    }
}

/// Nothing, or a size such as `-300x300`.
fn is_size(text: &str) -> bool {
    let Some(size) = text.strip_prefix('-') else { return text.is_empty() };
    let is_number = |text: &str| text.parse::<u16>().is_ok();
    size.split_once('x').is_some_and(|(width, height)| is_number(width) && is_number(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_there_in_every_size() {
        for (path, expected) in [
            ("/wp-content/uploads/woocommerce-placeholder.webp", true),
            ("/wp-content/uploads/woocommerce-placeholder-300x300.webp", true),
            ("/wp-content/uploads/woocommerce-placeholder-300.webp", false),
            ("/wp-content/uploads/woocommerce-placeholders.webp", false),
            ("/wp-content/uploads/woocommerce-placeholder.png", false),
            ("/", false),
        ] {
            assert_eq!(PlaceholderFile.may_be_at(path, ""), expected, "{path}");
        }
    }
}
