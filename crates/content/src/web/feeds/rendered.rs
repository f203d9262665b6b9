//! A feed in the formats that readers ask for.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use types::Timestamp;

/// A format of feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Format {
    Rss2,
    Rss092,
    Rdf,
    Atom,
}

/// A feed.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) title: String,
    pub(super) link: String,
    /// The address of the feed itself.
    pub(super) own: String,
    pub(super) description: String,
    pub(super) language: String,
    pub(super) of_comments: bool,
    pub(super) built: Option<Timestamp>,
    pub(super) entries: Vec<Entry>,
}

/// What a feed tells of.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) link: String,
    pub(super) creator: String,
    pub(super) published: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) categories: Vec<String>,
    pub(super) guid: String,
    pub(super) description: String,
    pub(super) content: String,
    /// How many comments there are, where comments are taken.
    pub(super) comments: Option<i64>,
}

const GENERATOR: &str = "Boardwalk";
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const RSS_NAMESPACES: &str = "xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" \
     xmlns:wfw=\"http://wellformedweb.org/CommentAPI/\" \
     xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:atom=\"http://www.w3.org/2005/Atom\" \
     xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\" \
     xmlns:slash=\"http://purl.org/rss/1.0/modules/slash/\"";
const RDF_NAMESPACES: &str = "xmlns=\"http://purl.org/rss/1.0/\" \
     xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
     xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
     xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\" \
     xmlns:admin=\"http://webns.net/mvcb/\" \
     xmlns:content=\"http://purl.org/rss/1.0/modules/content/\"";
const RSS092_DOCS: &str = "http://backend.userland.com/rss092";

impl Format {
    /// The format that the last part of a path asks for.
    pub(in super::super) fn named(name: &str) -> Option<Self> {
        match name {
            "feed" | "rss2" => Some(Self::Rss2),
            "rss" => Some(Self::Rss092),
            "rdf" => Some(Self::Rdf),
            "atom" => Some(Self::Atom),
            _ => None,
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Rss2 | Self::Rss092 => "application/rss+xml",
            Self::Rdf => "application/rdf+xml",
            Self::Atom => "application/atom+xml",
        }
    }

    pub(super) fn write(self, channel: &Channel) -> String {
        let body = match self {
            Self::Rss2 => rss2(channel),
            Self::Rss092 => rss092(channel),
            Self::Rdf => rdf(channel),
            Self::Atom => atom(channel),
        };
        format!("{DECLARATION}{body}\n")
    }
}

/// The text as it may stand in XML: without what it must not hold.
pub(in super::super) fn escaped(text: &str) -> String {
    let allowed = |c: &char| match c {
        '\n' | '\r' | '\t' => true,
        // XML has no way to write these.
        '\u{FFFE}' | '\u{FFFF}' => false,
        other => !other.is_control(),
    };
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars().filter(allowed) {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

fn element(xml: &mut String, name: &str, text: &str) {
    let _ = writeln!(xml, "<{name}>{}</{name}>", escaped(text));
}

fn written(time: Timestamp, format: &str) -> String {
    jiff::Timestamp::from_microsecond(time.as_micros())
        .map(|time| time.to_zoned(TimeZone::UTC).strftime(format).to_string())
        .unwrap_or_default()
}

fn mail_date(time: Timestamp) -> String {
    written(time, "%a, %d %b %Y %H:%M:%S +0000")
}

pub(super) fn http_date(time: Timestamp) -> String {
    written(time, "%a, %d %b %Y %H:%M:%S GMT")
}

pub(super) fn atom_date(time: Timestamp) -> String {
    written(time, "%Y-%m-%dT%H:%M:%SZ")
}

fn rss2(channel: &Channel) -> String {
    let mut xml = format!("<rss version=\"2.0\" {RSS_NAMESPACES}>\n<channel>\n");
    element(&mut xml, "title", &channel.title);
    let own = escaped(&channel.own);
    let kind = Format::Rss2.media_type();
    let _ = writeln!(xml, "<atom:link href=\"{own}\" rel=\"self\" type=\"{kind}\" />");
    element(&mut xml, "link", &channel.link);
    element(&mut xml, "description", &channel.description);
    let built = channel.built.map(mail_date).unwrap_or_default();
    element(&mut xml, "lastBuildDate", &built);
    if !channel.of_comments {
        element(&mut xml, "language", &channel.language);
    }
    element(&mut xml, "sy:updatePeriod", "hourly");
    element(&mut xml, "sy:updateFrequency", "1");
    element(&mut xml, "generator", GENERATOR);
    for entry in &channel.entries {
        rss2_item(&mut xml, channel, entry);
    }
    xml.push_str("</channel>\n</rss>");
    xml
}

fn rss2_item(xml: &mut String, channel: &Channel, entry: &Entry) {
    xml.push_str("<item>\n");
    // Readers of comment feeds know their titles with the space around them.
    let (before, after) = if channel.of_comments { ("\n\t\t", "\t\t") } else { ("", "") };
    element(xml, "title", &format!("{before}{}{after}", entry.title));
    element(xml, "link", &entry.link);
    if entry.comments.is_some() {
        element(xml, "comments", &format!("{}#comments", entry.link));
    }
    element(xml, "dc:creator", &entry.creator);
    element(xml, "pubDate", &mail_date(entry.published));
    for category in &entry.categories {
        element(xml, "category", category);
    }
    let permanent = "<guid isPermaLink=\"false\">";
    let _ = writeln!(xml, "{permanent}{}</guid>", escaped(&entry.guid));
    element(xml, "description", &entry.description);
    element(xml, "content:encoded", &entry.content);
    if let Some(count) = entry.comments {
        element(xml, "wfw:commentRss", &format!("{}feed/", entry.link));
        element(xml, "slash:comments", &count.to_string());
    }
    xml.push_str("</item>\n");
}

fn rss092(channel: &Channel) -> String {
    let mut xml = String::from("<rss version=\"0.92\">\n<channel>\n");
    element(&mut xml, "title", &channel.title);
    element(&mut xml, "link", &channel.link);
    element(&mut xml, "description", &channel.description);
    let built = channel.built.map(mail_date).unwrap_or_default();
    element(&mut xml, "lastBuildDate", &built);
    element(&mut xml, "docs", RSS092_DOCS);
    element(&mut xml, "language", &channel.language);
    for entry in &channel.entries {
        xml.push_str("<item>\n");
        element(&mut xml, "title", &entry.title);
        element(&mut xml, "description", &entry.description);
        element(&mut xml, "link", &entry.link);
        xml.push_str("</item>\n");
    }
    xml.push_str("</channel>\n</rss>");
    xml
}

fn rdf(channel: &Channel) -> String {
    let mut xml = format!("<rdf:RDF {RDF_NAMESPACES}>\n");
    let _ = writeln!(xml, "<channel rdf:about=\"{}\">", escaped(&channel.link));
    element(&mut xml, "title", &channel.title);
    element(&mut xml, "link", &channel.link);
    element(&mut xml, "description", &channel.description);
    let built = channel.built.map(atom_date).unwrap_or_default();
    element(&mut xml, "dc:date", &built);
    element(&mut xml, "sy:updatePeriod", "hourly");
    element(&mut xml, "sy:updateFrequency", "1");
    element(&mut xml, "sy:updateBase", "2000-01-01T12:00+00:00");
    let _ = writeln!(xml, "<admin:generatorAgent rdf:resource=\"{}\" />", escaped(&channel.link));
    xml.push_str("<items>\n<rdf:Seq>\n");
    for entry in &channel.entries {
        let _ = writeln!(xml, "<rdf:li rdf:resource=\"{}\" />", escaped(&entry.link));
    }
    xml.push_str("</rdf:Seq>\n</items>\n</channel>\n");
    for entry in &channel.entries {
        let _ = writeln!(xml, "<item rdf:about=\"{}\">", escaped(&entry.link));
        element(&mut xml, "title", &entry.title);
        element(&mut xml, "link", &entry.link);
        element(&mut xml, "dc:creator", &entry.creator);
        element(&mut xml, "dc:date", &atom_date(entry.published));
        for category in &entry.categories {
            element(&mut xml, "dc:subject", category);
        }
        element(&mut xml, "description", &entry.description);
        element(&mut xml, "content:encoded", &entry.content);
        xml.push_str("</item>\n");
    }
    xml.push_str("</rdf:RDF>");
    xml
}

fn atom(channel: &Channel) -> String {
    let mut xml = String::from(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" \
         xmlns:thr=\"http://purl.org/syndication/thread/1.0\">\n",
    );
    element(&mut xml, "title", &channel.title);
    element(&mut xml, "subtitle", &channel.description);
    let built = channel.built.map(atom_date).unwrap_or_default();
    element(&mut xml, "updated", &built);
    let (link, own) = (escaped(&channel.link), escaped(&channel.own));
    let kind = Format::Atom.media_type();
    let _ = writeln!(xml, "<link rel=\"alternate\" type=\"text/html\" href=\"{link}\" />");
    element(&mut xml, "id", &channel.own);
    let _ = writeln!(xml, "<link rel=\"self\" type=\"{kind}\" href=\"{own}\" />");
    element(&mut xml, "generator", GENERATOR);
    for entry in &channel.entries {
        atom_entry(&mut xml, entry);
    }
    xml.push_str("</feed>");
    xml
}

fn atom_entry(xml: &mut String, entry: &Entry) {
    let link = escaped(&entry.link);
    xml.push_str("<entry>\n<author>\n");
    element(xml, "name", &entry.creator);
    xml.push_str("</author>\n");
    element(xml, "title", &entry.title);
    let _ = writeln!(xml, "<link rel=\"alternate\" type=\"text/html\" href=\"{link}\" />");
    element(xml, "id", &entry.guid);
    element(xml, "updated", &atom_date(entry.updated));
    element(xml, "published", &atom_date(entry.published));
    for category in &entry.categories {
        let _ = writeln!(xml, "<category term=\"{}\" />", escaped(category));
    }
    let _ = writeln!(xml, "<summary type=\"html\">{}</summary>", escaped(&entry.description));
    let _ = writeln!(xml, "<content type=\"html\">{}</content>", escaped(&entry.content));
    if let Some(count) = entry.comments {
        let kind = Format::Atom.media_type();
        let feed = format!("rel=\"replies\" type=\"{kind}\" href=\"{link}feed/atom/\"");
        let page = format!("rel=\"replies\" type=\"text/html\" href=\"{link}#comments\"");
        let _ = writeln!(xml, "<link {page} thr:count=\"{count}\" />");
        let _ = writeln!(xml, "<link {feed} thr:count=\"{count}\" />");
        element(xml, "thr:total", &count.to_string());
    }
    xml.push_str("</entry>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_cannot_leave_its_element() {
        let time = Timestamp::parse("2024-03-01T08:00:00Z").unwrap();
        let hostile = "</title><script>&\u{0}\u{8}\"";
        let entry = Entry {
            title: hostile.to_owned(),
            link: hostile.to_owned(),
            creator: hostile.to_owned(),
            published: time,
            updated: time,
            categories: vec![hostile.to_owned()],
            guid: hostile.to_owned(),
            description: hostile.to_owned(),
            content: hostile.to_owned(),
            comments: Some(2),
        };
        let channel = Channel {
            title: hostile.to_owned(),
            link: hostile.to_owned(),
            own: hostile.to_owned(),
            description: hostile.to_owned(),
            language: String::from("en-US"),
            of_comments: false,
            built: Some(time),
            entries: vec![entry],
        };
        for format in [Format::Rss2, Format::Rss092, Format::Rdf, Format::Atom] {
            let xml = format.write(&channel);
            assert!(!xml.contains("<script>"), "{format:?}");
            let mut reader = quick_xml::Reader::from_str(&xml);
            while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        }
        assert_eq!(mail_date(time), "Fri, 01 Mar 2024 08:00:00 +0000");
    }
}
