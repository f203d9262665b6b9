//! Reads a text in Markdown: its HTML, and what a list of pages and a search need to know of it.
//!
//! HTML in the text is kept, so what strangers wrote goes through [`html_of_stranger`]. What this
//! adds to a plain rendering: anchors on headings as repositories show them, links that work on the
//! site, tables and code that scroll with the keyboard, and **no style attribute**, which the
//! pages' policy would refuse.

use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use serde::Serialize;

use super::clean::clean_content;

/// Between the cells of a table in plain text.
const CELL_END: &str = " · ";

/// A text that was read.
#[derive(Debug)]
pub struct Document {
    pub title: String,
    /// The opening paragraph as plain text; without one, the names of the sections.
    pub summary: String,
    /// Without the title.
    pub headings: Vec<Heading>,
    /// The whole text, its title included.
    pub html: String,
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heading {
    /// 2 for a section, 3 for a part of one, and so on.
    pub level: u8,
    pub text: String,
    /// The anchor, as in `#anchor`; unique on its page.
    pub id: String,
}

/// What stands between two headings; the first one begins with the title.
#[derive(Debug, Default)]
pub struct Section {
    pub heading: String,
    /// Empty for the section of the title: it is the page's top.
    pub anchor: String,
    /// Plain text, whitespace collapsed.
    pub text: String,
}

/// Where a link to a file beside the text leads on the site; `None` for what it does not serve.
pub type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Markdown that strangers wrote, as HTML that anybody may be shown.
pub fn html_of_stranger(markdown: &str) -> String {
    clean_content(&Document::read(markdown, &|_| None).html)
}

impl Document {
    /// Reads the text; `files` says where links to files beside it lead.
    pub fn read(text: &str, files: Files<'_>) -> Self {
        let mut reader = Reader::new(files);
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for event in Parser::new_ext(text, options) {
            reader.take(event);
        }
        reader.finish()
    }
}

struct Reader<'text, 'files> {
    files: Files<'files>,
    events: Vec<Event<'text>>,
    headings: Vec<Heading>,
    sections: Vec<Section>,
    title: String,
    summary: Option<String>,
    /// The heading that is being read: where its event is, and its text so far.
    open_heading: Option<OpenHeading>,
    /// Where in the section's text the paragraph began that is being read.
    paragraph_start: Option<usize>,
    columns: Vec<Alignment>,
    column: usize,
    in_table_head: bool,
    /// The link that is being read leads nowhere here, so only its text is kept.
    drops_link: bool,
}

struct OpenHeading {
    event_index: usize,
    level: HeadingLevel,
    text: String,
}

impl<'text, 'files> Reader<'text, 'files> {
    fn new(files: Files<'files>) -> Self {
        Self {
            files,
            events: Vec::new(),
            headings: Vec::new(),
            sections: Vec::new(),
            title: String::new(),
            summary: None,
            open_heading: None,
            paragraph_start: None,
            columns: Vec::new(),
            column: 0,
            in_table_head: false,
            drops_link: false,
        }
    }

    fn take(&mut self, event: Event<'text>) {
        self.note_text(&event);
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            other => self.events.push(other),
        }
    }

    /// The plain text, for search and summary.
    fn note_text(&mut self, event: &Event<'text>) {
        use TagEnd::{CodeBlock, Item, Paragraph, TableCell, TableRow};
        let text: &str = match event {
            Event::Text(text) | Event::Code(text) => text,
            Event::End(TableCell) => CELL_END,
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(Paragraph | Item | CodeBlock | TableRow) => " ",
            _ => return,
        };
        match &mut self.open_heading {
            Some(heading) => heading.text.push_str(text),
            None => {
                if let Some(section) = self.sections.last_mut() {
                    section.text.push_str(text);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'text>) {
        match tag {
            Tag::Heading { level, .. } => {
                let event_index = self.events.len();
                self.open_heading = Some(OpenHeading { event_index, level, text: String::new() });
                self.events.push(Event::Start(tag));
            }
            Tag::Paragraph => {
                self.paragraph_start = self.sections.last().map(|section| section.text.len());
                self.events.push(Event::Start(tag));
            }
            Tag::Link { link_type, dest_url, title, id } => match self.address(&dest_url) {
                Some(dest_url) => {
                    let dest_url = dest_url.into();
                    let link = Tag::Link { link_type, dest_url, title, id };
                    self.events.push(Event::Start(link));
                }
                None => self.drops_link = true,
            },
            Tag::Image { link_type, dest_url, title, id } => {
                // One that the site does not serve is shown by its text.
                let dest_url = self.address(&dest_url).unwrap_or_default().into();
                self.events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Tag::CodeBlock(_) => self.push_html("<pre tabindex=\"0\"><code>"),
            Tag::Table(ref columns) => {
                self.columns.clone_from(columns);
                self.push_html("<div class=\"table\" tabindex=\"0\">");
                self.events.push(Event::Start(tag));
            }
            Tag::TableHead | Tag::TableRow => {
                self.in_table_head = matches!(tag, Tag::TableHead);
                self.column = 0;
                self.events.push(Event::Start(tag));
            }
            Tag::TableCell => {
                let is_right = self.columns.get(self.column) == Some(&Alignment::Right);
                self.column += 1;
                self.push_html(match (self.in_table_head, is_right) {
                    (true, true) => "<th scope=\"col\" class=\"right\">",
                    (true, false) => "<th scope=\"col\">",
                    (false, true) => "<td class=\"right\">",
                    (false, false) => "<td>",
                });
            }
            other => self.events.push(Event::Start(other)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.close_heading();
                self.events.push(Event::End(tag));
            }
            TagEnd::Paragraph => {
                self.note_summary();
                self.events.push(Event::End(tag));
            }
            TagEnd::Link if self.drops_link => self.drops_link = false,
            TagEnd::CodeBlock => self.push_html("</code></pre>\n"),
            TagEnd::Table => {
                self.events.push(Event::End(tag));
                self.push_html("</div>\n");
            }
            TagEnd::TableCell => {
                self.push_html(if self.in_table_head { "</th>" } else { "</td>" });
            }
            other => self.events.push(Event::End(other)),
        }
    }

    fn push_html(&mut self, html: &'static str) {
        self.events.push(Event::Html(CowStr::Borrowed(html)));
    }

    fn close_heading(&mut self) {
        let Some(OpenHeading { event_index, level, text }) = self.open_heading.take() else {
            return;
        };
        let text = collapsed(&text);
        let anchor = self.unused_anchor(&text);
        if let Some(Event::Start(Tag::Heading { id, .. })) = self.events.get_mut(event_index) {
            *id = Some(anchor.clone().into());
        }
        let is_title = level == HeadingLevel::H1;
        if is_title {
            self.title.clone_from(&text);
        } else {
            let heading =
                Heading { level: level_number(level), text: text.clone(), id: anchor.clone() };
            self.headings.push(heading);
        }
        let anchor = if is_title { String::new() } else { anchor };
        self.sections.push(Section { heading: text, anchor, text: String::new() });
    }

    /// Two sections may have one name; the second anchor gets a number.
    fn unused_anchor(&self, heading: &str) -> String {
        let plain = anchor_of(heading);
        let is_used = |anchor: &str| self.headings.iter().any(|heading| heading.id == anchor);
        let numbered = (1..=self.headings.len()).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        candidates.find(|anchor| !is_used(anchor)).unwrap_or(plain)
    }

    /// The first paragraph below the title, before any section, tells what the guide is.
    fn note_summary(&mut self) {
        let [section] = self.sections.as_slice() else {
            return;
        };
        let paragraph = self.paragraph_start.and_then(|start| section.text.get(start..));
        if let (None, Some(paragraph)) = (&self.summary, paragraph) {
            self.summary = Some(collapsed(paragraph));
        }
    }

    /// Where a link leads on the site; `None` for what the site does not serve.
    fn address(&self, link: &str) -> Option<String> {
        let is_kept =
            ["#", "https://", "http://", "mailto:"].iter().any(|start| link.starts_with(start));
        if is_kept {
            return Some(link.to_owned());
        }
        let (file, anchor) = match link.split_once('#') {
            Some((file, anchor)) => (file, format!("#{anchor}")),
            None => (link, String::new()),
        };
        (self.files)(file).map(|path| format!("{path}{anchor}"))
    }

    fn finish(mut self) -> Document {
        for section in &mut self.sections {
            section.text = collapsed(&section.text);
        }
        let section_names = || {
            let top = self.headings.iter().filter(|heading| heading.level == 2);
            let names: Vec<&str> = top.map(|heading| heading.text.as_str()).collect();
            names.join(" · ")
        };
        let summary = self.summary.unwrap_or_else(section_names);
        let mut html = String::new();
        html::push_html(&mut html, self.events.into_iter());
        Document {
            title: self.title,
            summary,
            headings: self.headings,
            html,
            sections: self.sections,
        }
    }
}

/// The anchor that repositories give a heading: lower case, hyphens for blanks, no other signs.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

fn collapsed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches(CELL_END.trim_end()).to_owned()
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A `guide`\n\nWhat it *is*,\nand <why>.\n\nMore.\n\n## One & two\n\n\
        | Name | Count |\n|---|--:|\n| a<b | 1 |\n\n```sh\necho \"$A\" > b\n```\n\n## One two\n\n\
        ### One two\n\nSee [there](security.md#transport), [a decision](adr/0001-x.md), \
        [a file](examples/full.json), [here](#one--two), [outside](https://e.example/).\n\n\
        ![A curve](images/reports-growth.svg)\n";

    /// Three files are served, the others are not.
    fn files(file: &str) -> Option<String> {
        match file {
            "security.md" => Some(String::from("/docs/security/")),
            "examples/full.json" | "images/reports-growth.svg" => Some(format!("/docs/{file}")),
            _ => None,
        }
    }

    #[test]
    fn a_guide_is_read() {
        let guide = Document::read(TEXT, &files);
        assert_eq!(guide.title, "A guide");
        assert_eq!(guide.summary, "What it is, and .");
        let headings: Vec<(u8, &str)> =
            guide.headings.iter().map(|heading| (heading.level, heading.id.as_str())).collect();
        assert_eq!(headings, [(2, "one--two"), (2, "one-two"), (3, "one-two-1")]);
        assert_eq!(guide.sections[0].anchor, "");
        assert_eq!(guide.sections[1].text, "Name · Count · a<b · 1 · echo \"$A\" > b");
    }

    #[test]
    fn html_has_anchors_scrolling_parts_and_no_style() {
        let html = Document::read(TEXT, &files).html;
        for expected in [
            "<h1 id=\"a-guide\">A <code>guide</code></h1>",
            "<h2 id=\"one--two\">One &amp; two</h2>",
            "<div class=\"table\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Name</th>",
            "<th scope=\"col\" class=\"right\">Count</th>",
            "<td>a&lt;b</td><td class=\"right\">1</td>",
            "<pre tabindex=\"0\"><code>echo \"$A\" &gt; b\n</code></pre>",
            "<a href=\"/docs/security/#transport\">there</a>, a decision, ",
            "<a href=\"/docs/examples/full.json\">a file</a>",
            "<img src=\"/docs/images/reports-growth.svg\" alt=\"A curve\" />",
            "<a href=\"#one--two\">here</a>, <a href=\"https://e.example/\">outside</a>",
        ] {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
        assert!(!html.contains("style="));
    }

    #[test]
    fn a_guide_without_opening_is_summed_up_by_its_sections() {
        let guide = Document::read("# T\n\n## First\n\nText.\n\n### Part\n\n## Second\n", &files);
        assert_eq!(guide.summary, "First · Second");
    }
}
