//! Names of files: what people call a file becomes a name that is safe everywhere.

use crate::text::slugify;

/// Bytes of a name without its ending.
const STEM_LENGTH_MAX: usize = 120;
const NAMELESS: &str = "file";

/// The name and the ending of a file, from whatever it was called.
pub fn safe_parts(called: &str) -> (String, String) {
    let base = called.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, ending) = base.rsplit_once('.').unwrap_or((base, ""));
    let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).collect();
    (safe_stem(stem), ending)
}

/// Letters, digits, hyphens and underscores; letters lose their accents. What could be taken for an
/// ending in the middle of a name is none any more.
fn safe_stem(stem: &str) -> String {
    let mut safe = String::new();
    for character in stem.chars() {
        match character {
            _ if character.is_ascii_alphanumeric() || character == '_' => safe.push(character),
            ' ' | '-' | '+' | '.' | '\u{a0}' => safe.push('-'),
            _ if character.is_ascii() => {}
            _ => safe.extend(slugify(&character.to_string()).chars().filter(|c| *c != '%')),
        }
        if safe.len() >= STEM_LENGTH_MAX {
            break;
        }
    }
    let words: Vec<&str> = safe.split('-').filter(|word| !word.is_empty()).collect();
    let safe = words.join("-");
    if safe.is_empty() { NAMELESS.to_owned() } else { safe }
}

/// The name of a smaller form of a picture.
pub fn sized(file: &str, (width, height): (u32, u32)) -> String {
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    format!("{stem}-{width}x{height}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::safe_parts;

    #[test]
    fn names_become_safe() {
        for (called, stem, ending) in [
            ("anchor-blue.png", "anchor-blue", "png"),
            ("../../evil name?.png", "evil-name", "png"),
            ("C:\\dir\\a.JPG", "a", "JPG"),
            ("shell.php.png", "shell-php", "png"),
            (".htaccess", "file", "htaccess"),
            ("Füße & Öl.jpg", "Fusse-ol", "jpg"),
            ("a\0b\r\n.txt", "ab", "txt"),
            ("..", "file", ""),
            ("", "file", ""),
            ("x.p/../ng", "ng", ""),
        ] {
            let found = safe_parts(called);
            assert_eq!((&*found.0, &*found.1), (stem, ending), "{called:?}");
        }
        assert!(safe_parts(&"x".repeat(5000)).0.len() <= super::STEM_LENGTH_MAX);
    }
}
