//! Typography of rendered texts, as readers of the reference know it: curly quotes, dashes, dots.
//!
//! Only text between tags changes; what stands in code, styles and scripts stays as it is.

/// Elements whose text is meant letter by letter.
const VERBATIM: &[&str] = &["pre", "code", "kbd", "style", "script", "tt"];
/// Words that start with an apostrophe, without it.
const CLIPPED: &[&str] =
    &["tain", "twere", "twas", "tis", "twill", "til", "bout", "nuff", "round", "cause", "em"];

/// HTML with its texts set as a typesetter would.
pub(super) fn typeset(html: &str) -> String {
    let mut set = String::with_capacity(html.len());
    let mut verbatim: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(place) = tag_start(rest) {
        let (text, tag) = rest.split_at_checked(place).unwrap_or((rest, ""));
        push_text(&mut set, text, verbatim.is_empty());
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        let length = tag.find(end).map_or(tag.len(), |end_place| end_place + end.len());
        let (tag, after) = tag.split_at_checked(length).unwrap_or((tag, ""));
        see_tag(&mut verbatim, tag);
        set.push_str(tag);
        rest = after;
    }
    push_text(&mut set, rest, verbatim.is_empty());
    set
}

/// Where a tag or comment starts; a `<` before anything else is text.
fn tag_start(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(place, _)| place).find(|place| {
        let next = text.get(place + 1..).and_then(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!'))
    })
}

fn see_tag(verbatim: &mut Vec<String>, tag: &str) {
    let tag = tag.trim_start_matches('<');
    let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
    let name = tag.get(..end).unwrap_or_default().to_ascii_lowercase();
    if closes {
        if verbatim.last() == Some(&name) {
            verbatim.pop();
        }
    } else if VERBATIM.contains(&name.as_str()) {
        verbatim.push(name);
    }
}

fn push_text(set: &mut String, text: &str, change: bool) {
    if !change {
        set.push_str(text);
        return;
    }
    let letters: Vec<char> = text.chars().collect();
    let mut setter = Setter { letters: &letters, place: 0, open_double: false };
    while let Some(letter) = setter.letter(0) {
        let (written, length) = setter.next(letter);
        match written {
            Some(written) => set.push_str(written),
            None => set.push(letter),
        }
        setter.place += length;
    }
}

/// A place in a run of text.
struct Setter<'a> {
    letters: &'a [char],
    place: usize,
    /// A quote was opened and not closed.
    open_double: bool,
}

impl Setter<'_> {
    fn letter(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.place + ahead).copied()
    }

    fn before(&self, back: usize) -> Option<char> {
        self.letters.get(self.place.checked_sub(back)?).copied()
    }

    /// What stands for the next letters, and how many they are; nothing keeps the letter.
    fn next(&mut self, letter: char) -> (Option<&'static str>, usize) {
        match letter {
            '&' if !self.starts_entity() => (Some("&#038;"), 1),
            '"' => (Some(self.double_quote()), 1),
            '\'' if self.letter(1) == Some('\'') => (Some("&#8221;"), 2),
            '`' if self.letter(1) == Some('`') => (Some("&#8220;"), 2),
            '\'' => (Some(self.single_quote()), 1),
            '-' => self.dashes(),
            '.' if self.run('.') >= 3 => (Some("&#8230;"), 3),
            'x' if self.is_times() => (Some("&#215;"), 1),
            _ => (None, 1),
        }
    }

    fn starts_entity(&self) -> bool {
        let name = (1..).map_while(|ahead| self.letter(ahead));
        let length = name.take_while(|c| c.is_ascii_alphanumeric() || *c == '#').count();
        length > 0 && self.letter(length + 1) == Some(';')
    }

    /// Whether what stands before lets a quote open here.
    fn opens(&self) -> bool {
        self.before(1).is_none_or(|c| c.is_whitespace() || "([{\"-/".contains(c))
    }

    fn double_quote(&mut self) -> &'static str {
        let after_digit = self.before(1).is_some_and(|c| c.is_ascii_digit());
        if after_digit && !self.open_double {
            return "&#8243;";
        }
        self.open_double = self.opens();
        if self.open_double { "&#8220;" } else { "&#8221;" }
    }

    fn single_quote(&self) -> &'static str {
        if self.before(1).is_some_and(|c| c.is_ascii_digit()) {
            let ends = self.letter(1).is_none_or(|c| !c.is_alphanumeric());
            return if ends { "&#8242;" } else { "&#8217;" };
        }
        let word: String = (1..)
            .map_while(|ahead| self.letter(ahead).filter(|c| c.is_alphanumeric()))
            .take(8)
            .collect();
        let year = word.len() == 2 && word.chars().all(|c| c.is_ascii_digit());
        let clipped = CLIPPED.contains(&word.to_lowercase().as_str());
        let opens = self.opens() && self.letter(1).is_some_and(|c| !c.is_whitespace());
        if opens && !year && !clipped { "&#8216;" } else { "&#8217;" }
    }

    fn run(&self, letter: char) -> usize {
        (0..4).take_while(|ahead| self.letter(*ahead) == Some(letter)).count()
    }

    fn dashes(&self) -> (Option<&'static str>, usize) {
        let alone = |length: usize| {
            let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
            space(self.before(1)) && space(self.letter(length))
        };
        match self.run('-') {
            // The rest of a long line of dashes.
            _ if self.before(1) == Some('-') => (None, 1),
            1 if alone(1) && self.letters.len() > 1 => (Some("&#8211;"), 1),
            2 if alone(2) => (Some("&#8212;"), 2),
            2 => (Some("&#8211;"), 2),
            3 => (Some("&#8212;"), 3),
            _ => (None, 1),
        }
    }

    /// Whether the letter stands for "times" between two numbers.
    fn is_times(&self) -> bool {
        let number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let back = (1..).map_while(|back| self.before(back).filter(|c| number(*c))).count();
        let ahead = (1..).map_while(|ahead| self.letter(ahead).filter(|c| number(*c))).count();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let first = self.before(back);
        back > 0
            && self.letter(1).is_some_and(|c| c.is_ascii_digit())
            && !(back == 1 && first == Some('0'))
            && !word(self.before(back + 1))
            && !word(self.letter(ahead + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_set() {
        for (plain, expected) in [
            ("Hello world!", "Hello world!"),
            ("It's \"fine\"", "It&#8217;s &#8220;fine&#8221;"),
            ("'quoted' in '99 'tis", "&#8216;quoted&#8217; in &#8217;99 &#8217;tis"),
            ("a - b -- c---d x--y", "a &#8211; b &#8212; c&#8212;d x&#8211;y"),
            ("well-known ----", "well-known ----"),
            ("wait...", "wait&#8230;"),
            ("A & B &amp; C &#8211; D &", "A &#038; B &amp; C &#8211; D &#038;"),
            ("30x40 0x40 a1x2 1x2b", "30&#215;40 0x40 a1x2 1x2b"),
            ("6' 5\"", "6&#8242; 5&#8243;"),
            ("(\"x\")", "(&#8220;x&#8221;)"),
            ("``x''", "&#8220;x&#8221;"),
            ("1 < 2 'x'", "1 < 2 &#8216;x&#8217;"),
        ] {
            assert_eq!(typeset(plain), expected, "{plain}");
        }
    }

    #[test]
    fn tags_and_code_stay() {
        for html in [
            "<a title=\"it's - x\" href='y'>z</a>",
            "<pre>\"a\" -- <b>'b'</b></pre>",
            "<code>x...</code>",
            "<!-- \"a\" - b -->",
            "<script>\"a\"",
            "<p",
        ] {
            assert_eq!(typeset(html), html);
        }
        assert_eq!(typeset("<code>'</code>'a'"), "<code>'</code>&#8216;a&#8217;");
    }
}
