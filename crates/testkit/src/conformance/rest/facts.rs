//! What is worth knowing of a document that is not JSON: names and numbers of elements, addresses,
//! forms with the names of their fields, relations, what robots are told, linked data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::SITE_TOKEN;

static TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"<([a-zA-Z][a-zA-Z0-9-]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>"#).ok());
static ATTRIBUTE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#).ok());
/// Relations that belong to how a page is drawn.
const DRAWING: [&str; 6] =
    ["stylesheet", "preload", "modulepreload", "prefetch", "speculation", "dns-prefetch"];
const FIELDS: [&str; 4] = ["input", "select", "textarea", "button"];
const LINKED_DATA: &str = "application/ld+json";

/// What a page offers to whoever reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    forms: Vec<(String, BTreeSet<String>)>,
    inputs: Vec<(String, String)>,
    links: Vec<String>,
    relations: BTreeSet<String>,
    robots: Option<String>,
    properties: BTreeSet<String>,
    types: BTreeSet<String>,
    linked_data: Vec<Value>,
}

impl Page {
    pub(super) fn parse(html: &str) -> Self {
        let mut page = Self::default();
        let Some(tag) = &*TAG else { return page };
        for found in tag.captures_iter(html) {
            let part = |number| found.get(number).map_or("", |part| part.as_str());
            let end = found.get(0).map_or(html.len(), |whole| whole.end());
            let after = html.get(end..).unwrap_or_default();
            page.element(&part(1).to_ascii_lowercase(), &attributes(part(2)), after);
        }
        page
    }

    /// The value of a field.
    pub(super) fn input(&self, name: &str) -> Option<&str> {
        let named = self.inputs.iter().find(|(given, _)| given == name);
        named.map(|(_, value)| value.as_str())
    }

    /// The first link with this part in it.
    pub(super) fn link(&self, part: &str) -> Option<&str> {
        self.links.iter().find(|link| link.contains(part)).map(String::as_str)
    }

    fn element(&mut self, element: &str, attributes: &BTreeMap<String, String>, after: &str) {
        let text = |name: &str| attributes.get(name).filter(|value| !value.is_empty());
        if element == "form" {
            let method =
                text("method").map_or_else(|| "get".to_owned(), |m| m.to_ascii_lowercase());
            self.forms.push((method, BTreeSet::new()));
        }
        if let Some(name) = text("name").filter(|_| FIELDS.contains(&element)) {
            let value = text("value").cloned().unwrap_or_default();
            self.inputs.push((name.clone(), value));
            if let Some((_, fields)) = self.forms.last_mut() {
                fields.insert(name.clone());
            }
        }
        if let Some(relation) = text("rel").filter(|_| element == "link") {
            let kind = text("type").map(|kind| format!(":{kind}")).unwrap_or_default();
            self.relations.insert(format!("{relation}{kind}"));
        }
        if element == "meta" && text("name").is_some_and(|name| name == "robots") {
            self.robots = attributes.get("content").cloned();
        }
        self.properties.extend(text("itemprop").cloned());
        self.types.extend(text("itemtype").cloned());
        if element == "script" && text("type").is_some_and(|kind| kind == LINKED_DATA) {
            let script = after.split("</script").next().unwrap_or_default();
            let data = serde_json::from_str(script);
            self.linked_data.push(data.unwrap_or_else(|_| json!("unreadable")));
        }
        if element == "a" {
            self.links.extend(text("href").cloned());
        }
    }

    fn facts(&self, site: &str) -> Value {
        let forms: Vec<Value> = self
            .forms
            .iter()
            .map(|(method, inputs)| json!({"method": method, "inputs": inputs}))
            .collect();
        let is_shown = |relation: &&String| !DRAWING.iter().any(|one| relation.starts_with(one));
        let relations: Vec<&String> = self.relations.iter().filter(is_shown).collect();
        let mut facts = Map::from_iter([
            ("forms".to_owned(), json!(forms)),
            ("rel".to_owned(), json!(relations)),
        ]);
        let mut add = |name: &str, value: Value, is_there: bool| {
            if is_there {
                facts.insert(name.to_owned(), value);
            }
        };
        add("robots", json!(self.robots), self.robots.is_some());
        add("itemprop", json!(self.properties), !self.properties.is_empty());
        add("itemtype", json!(self.types), !self.types.is_empty());
        let linked = json!(self.linked_data).to_string().replace(site, SITE_TOKEN);
        let linked = serde_json::from_str(&linked).unwrap_or_default();
        add("ld_json", linked, !self.linked_data.is_empty());
        Value::Object(facts)
    }
}

/// The facts of a document, by its media type.
pub(super) fn facts(media_type: &str, text: &str, site: &str) -> Value {
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    match media_type {
        "text/html" => Page::parse(text).facts(site),
        "text/plain" => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let lines: Vec<String> = lines.map(|line| line.replace(site, SITE_TOKEN)).collect();
            json!({"lines": lines})
        }
        _ if media_type.ends_with("xml") && text.trim_start().starts_with("<?xml") => {
            xml_facts(text, site).unwrap_or_else(|| json!({"xml": "unreadable"}))
        }
        _ => json!({}),
    }
}

/// The elements of a document with their texts, each with the name of the one around it.
struct Element {
    name: String,
    parent: String,
    text: String,
}

fn xml_facts(text: &str, site: &str) -> Option<Value> {
    let elements = elements(text)?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for element in &elements {
        *counts.entry(&element.name).or_default() += 1;
    }
    let text_of = |element: &Element| element.text.replace(site, SITE_TOKEN);
    let locations = elements.iter().filter(|element| element.name.ends_with("}loc"));
    let locations: BTreeSet<String> = locations.map(text_of).collect();
    let is_title = |element: &&Element| element.name == "title" && element.parent == "item";
    let titles: Vec<String> = elements.iter().filter(is_title).map(text_of).collect();
    let mut facts = Map::from_iter([
        ("root".to_owned(), json!(elements.first()?.name)),
        ("elements".to_owned(), json!(counts)),
    ]);
    if !locations.is_empty() {
        facts.insert("loc".to_owned(), json!(locations));
    }
    if !titles.is_empty() {
        facts.insert("item_titles".to_owned(), json!(titles));
    }
    Some(Value::Object(facts))
}

/// In the order in which they begin; nothing if the document is not well formed.
fn elements(text: &str) -> Option<Vec<Element>> {
    let mut reader = NsReader::from_str(text);
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let (namespace, event) = reader.read_resolved_event().ok()?;
        match event {
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                let name = spelt(&namespace, tag.local_name().as_ref());
                let around = open.last().and_then(|index| elements.get(*index));
                let parent = around.map(|around| around.name.clone()).unwrap_or_default();
                if matches!(event, Event::Start(_)) {
                    open.push(elements.len());
                }
                elements.push(Element { name, parent, text: String::new() });
            }
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => append(&mut elements, &open, &text),
            Event::CData(text) => append(&mut elements, &open, &text),
            Event::GeneralRef(entity) => {
                let written = format!("&{};", &*entity);
                let meant = quick_xml::escape::unescape(&written).ok()?.into_owned();
                append(&mut elements, &open, &meant);
            }
            Event::Eof => return open.is_empty().then_some(elements),
            _ => {}
        }
    }
}

fn append(elements: &mut [Element], open: &[usize], text: &str) {
    if let Some(element) = open.last().and_then(|index| elements.get_mut(*index)) {
        element.text.push_str(text);
    }
}

/// The name of an element with its namespace: `{http://www.w3.org/2005/Atom}link`.
fn spelt(namespace: &ResolveResult<'_>, name: &str) -> String {
    match namespace {
        ResolveResult::Bound(namespace) => {
            format!("{{{}}}{name}", namespace.as_ref())
        }
        _ => name.to_owned(),
    }
}

/// The attributes of a tag, with their entities decoded.
fn attributes(text: &str) -> BTreeMap<String, String> {
    let Some(attribute) = &*ATTRIBUTE else { return BTreeMap::new() };
    let pairs = attribute.captures_iter(text).map(|found| {
        let part = |number| found.get(number).map(|part| part.as_str());
        let value = part(2).or_else(|| part(3)).or_else(|| part(4)).unwrap_or_default();
        let meant = quick_xml::escape::unescape(value).unwrap_or(value.into());
        (part(1).unwrap_or_default().to_ascii_lowercase(), meant.into_owned())
    });
    pairs.collect()
}
