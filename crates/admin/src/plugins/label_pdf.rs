//! A page with lines of text as a PDF file, for labels. **The file is ASCII**: letters beyond it
//! are written as escapes, and those that the built-in fonts lack as question marks.

use std::fmt::Write as _;

/// A page's width and height in points.
pub(super) type PageSize = (f64, f64);

/// A line of text: where its left end is, how large it is, and whether it is bold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) x: f64,
    /// From the bottom of the page.
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) is_bold: bool,
    pub(super) text: String,
}

/// Letters of the fonts that stand elsewhere than in Unicode.
const MOVED: &[(char, u8)] = &[
    ('€', 0x80),
    ('…', 0x85),
    ('Š', 0x8a),
    ('Œ', 0x8c),
    ('Ž', 0x8e),
    ('‘', 0x91),
    ('’', 0x92),
    ('“', 0x93),
    ('”', 0x94),
    ('–', 0x96),
    ('—', 0x97),
    ('š', 0x9a),
    ('œ', 0x9c),
    ('ž', 0x9e),
    ('Ÿ', 0x9f),
];

pub(super) fn document((width, height): PageSize, lines: &[Line]) -> String {
    let mut content = String::new();
    for line in lines {
        let font = if line.is_bold { "F2" } else { "F1" };
        let Line { x, y, size, text, .. } = line;
        let _ =
            writeln!(content, "BT /{font} {size} Tf {x:.2} {y:.2} Td ({}) Tj ET", escaped(text));
    }
    let font = |name: &str| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
    };
    let objects = [
        String::from("<< /Type /Catalog /Pages 2 0 R >>"),
        String::from("<< /Type /Pages /Kids [3 0 R] /Count 1 >>"),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.2} {height:.2}] /Contents 6 0 R \
             /Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> >>"
        ),
        font("Helvetica"),
        font("Helvetica-Bold"),
        format!("<< /Length {} >>\nstream\n{content}endstream", content.len()),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", place + 1);
    }
    let table = file.len();
    let count = objects.len() + 1;
    let _ = write!(file, "xref\n0 {count}\n0000000000 65535 f \n");
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(file, "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n");
    file
}

fn escaped(text: &str) -> String {
    let mut written = String::new();
    for letter in text.chars() {
        let moved = MOVED.iter().find(|(known, _)| *known == letter).map(|(_, code)| *code);
        match letter {
            '(' | ')' | '\\' => {
                written.push('\\');
                written.push(letter);
            }
            ' '..='~' => written.push(letter),
            _ => {
                let latin = u8::try_from(u32::from(letter)).ok().filter(|code| *code >= 0xa0);
                match moved.or(latin) {
                    Some(code) => {
                        let _ = write!(written, "\\{code:03o}");
                    }
                    None => written.push('?'),
                }
            }
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_where_its_objects_are() {
        let line = Line { x: 20.0, y: 30.0, size: 12.0, is_bold: true, text: "a (b)".to_owned() };
        let file = document((100.0, 200.0), &[line]);
        assert!(file.is_ascii() && file.starts_with("%PDF-1.4\n") && file.ends_with("%%EOF\n"));
        assert!(file.contains("BT /F2 12 Tf 20.00 30.00 Td (a \\(b\\)) Tj ET"), "{file}");
        assert!(file.contains("/MediaBox [0 0 100.00 200.00]"), "{file}");
        let table = file.find("xref\n").unwrap();
        assert!(file.contains(&format!("startxref\n{table}\n")));
        let entries = file.split_once("f \n").unwrap().1;
        for (place, entry) in entries.lines().take(6).enumerate() {
            let offset: usize = entry.get(..10).unwrap().parse().unwrap();
            let object = file.get(offset..).unwrap();
            assert!(object.starts_with(&format!("{} 0 obj", place + 1)), "{entry}");
        }
        let stream = file.split_once("stream\n").unwrap().1.split_once("endstream").unwrap().0;
        assert!(file.contains(&format!("/Length {} >>", stream.len())), "{file}");
    }

    #[test]
    fn letters_beyond_ascii_are_escaped() {
        for (text, expected) in [
            ("Zoë", "Zo\\353"),
            ("5 €", "5 \\200"),
            ("東京", "??"),
            ("a\nb", "a?b"),
            ("\\", "\\\\"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
