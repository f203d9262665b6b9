//! Addresses of sound and film files, which need no provider: a browser plays them.

use frame::text::escaped;
use serde_json::{Map, Value, json};
use url::Url;

const AUDIO_ENDINGS: &[&str] = &["mp3", "ogg", "flac", "m4a", "wav"];
const VIDEO_ENDINGS: &[&str] = &["mp4", "m4v", "webm", "ogv", "flv"];

/// The answer for a file that a browser plays, in the given size.
pub(super) fn describe(file: &Url, width: u64, height: u64) -> Option<Map<String, Value>> {
    let ending = file.path().rsplit_once('.')?.1.to_ascii_lowercase();
    let source = escaped(file.as_str());
    let html = if AUDIO_ENDINGS.contains(&ending.as_str()) {
        format!("<audio controls preload=\"none\" src=\"{source}\"></audio>")
    } else if VIDEO_ENDINGS.contains(&ending.as_str()) {
        format!(
            "<video controls preload=\"metadata\" width=\"{width}\" height=\"{height}\" \
             src=\"{source}\"></video>"
        )
    } else {
        return None;
    };
    let mut answer = Map::new();
    answer.insert("provider_name".to_owned(), json!("Embed Handler"));
    answer.insert("html".to_owned(), json!(html));
    answer.insert("scripts".to_owned(), json!([]));
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_ending() {
        let check = |url: &str, expected: Option<&str>| {
            let answer = describe(&Url::parse(url).unwrap(), 600, 750);
            let html = answer.as_ref().and_then(|answer| answer["html"].as_str());
            assert_eq!(html, expected, "{url}");
        };
        check(
            "https://a.example/b.MP3?c&d=\"",
            Some(
                "<audio controls preload=\"none\" src=\"https://a.example/b.MP3?c&amp;d=%22\">\
                 </audio>",
            ),
        );
        check(
            "https://a.example/b.mp4",
            Some(
                "<video controls preload=\"metadata\" width=\"600\" height=\"750\" \
                 src=\"https://a.example/b.mp4\"></video>",
            ),
        );
        check("https://a.example/b.html", None);
        check("https://a.example/mp3", None);
    }
}
