//! The types of blocks that the editor may use here, from one table of data, and the rendering of
//! those that show what the site holds.

mod render;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use contract::rest::check::validate;
use contract::rest::route::{READ, Route, Verb};
use contract::rest::{
    Args, CompiledItem, Item, Links, ParamError, Refusal, Reply, Schema, Stop, Treatment, params,
};
use frame::action::{Action, memory, read};
use frame::{Call, Names};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use types::{Capability, Error};

use crate::posts::kind::ALL_KINDS;
use crate::posts::schema::ALL;
use crate::posts::{permit, records};

/// The table. What follows from a feature is not written there: attributes that every block with
/// the feature has, and names of sets of features.
const TYPES: &str = include_str!("../../blocks/types.json");
const RENDER: &[Verb] = &[Verb::Get, Verb::Post];

/// A type of block as the table has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockType {
    name: String,
    title: String,
    description: String,
    category: String,
    #[serde(default)]
    keywords: Vec<String>,
    attributes: Map<String, Value>,
    supports: Map<String, Value>,
    #[serde(default)]
    selectors: Map<String, Value>,
    #[serde(default)]
    parent: Option<Vec<String>>,
    #[serde(default)]
    allowed_blocks: Option<Vec<String>>,
    /// Whether it shows what the site holds.
    #[serde(default)]
    dynamic: bool,
}

static ALL_TYPES: LazyLock<Vec<BlockType>> = LazyLock::new(|| {
    let mut types: Vec<BlockType> =
        serde_json::from_str(TYPES).expect("the table of blocks is well formed");
    types.iter_mut().for_each(BlockType::complete);
    types
});

/// The sets of features that the table names.
fn feature_set(name: &str) -> Value {
    match name {
        "$color" => json!({
            "gradients": true, "link": true,
            "__experimentalDefaultControls": { "background": true, "text": true },
        }),
        "$spacing" => json!({ "margin": true, "padding": true }),
        "$typography" => json!({
            "fontSize": true, "lineHeight": true,
            "__experimentalFontFamily": true, "__experimentalFontWeight": true,
            "__experimentalFontStyle": true, "__experimentalTextTransform": true,
            "__experimentalTextDecoration": true, "__experimentalLetterSpacing": true,
            "__experimentalDefaultControls": { "fontSize": true },
        }),
        "$border" => json!({ "radius": true, "color": true, "width": true, "style": true }),
        other => json!(other),
    }
}

impl BlockType {
    /// Writes out the sets of features, and adds the attributes that follow from features.
    fn complete(&mut self) {
        for feature in self.supports.values_mut() {
            if let Value::String(name) = feature {
                *feature = feature_set(name);
            }
        }
        let has = |path: &[&str]| {
            let mut found = self.supports.get(*path.first()?);
            for name in path.iter().skip(1) {
                found = found?.get(*name);
            }
            found.filter(|value| **value != json!(false))
        };
        let alignments = json!(["left", "center", "right", "wide", "full", ""]);
        let derived = [
            (true, "lock", json!({ "type": "object" })),
            (true, "metadata", json!({ "type": "object" })),
            (has(&["align"]).is_some(), "align", json!({ "type": "string", "enum": alignments })),
            (
                self.supports.get("customClassName") != Some(&json!(false)),
                "className",
                json!({ "type": "string" }),
            ),
            (true, "style", json!({ "type": "object" })),
            (
                has(&["color", "gradients"]).is_some(),
                "backgroundColor",
                json!({ "type": "string" }),
            ),
            (has(&["color", "gradients"]).is_some(), "textColor", json!({ "type": "string" })),
            (has(&["color", "gradients"]).is_some(), "gradient", json!({ "type": "string" })),
            (has(&["typography", "fontSize"]).is_some(), "fontSize", json!({ "type": "string" })),
            (
                has(&["typography", "__experimentalFontFamily"]).is_some(),
                "fontFamily",
                json!({ "type": "string" }),
            ),
            (
                has(&["__experimentalBorder", "color"]).is_some(),
                "borderColor",
                json!({ "type": "string" }),
            ),
            (has(&["anchor"]).is_some(), "anchor", json!({ "type": "string" })),
        ];
        for (applies, name, attribute) in derived {
            if applies && !self.attributes.contains_key(name) {
                self.attributes.insert(name.to_owned(), attribute);
            }
        }
    }

    fn namespace(&self) -> &str {
        self.name.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// What its attributes may be. Texts with markup are texts.
    fn attribute_schema(&self) -> Schema {
        let schemas = self.attributes.iter().map(|(name, attribute)| {
            let of = |keyword: &str| attribute.get(keyword).cloned();
            let kind = of("type").filter(|kind| kind != "rich-text").unwrap_or(json!("string"));
            let mut schema = Map::from_iter([(String::from("type"), kind)]);
            for keyword in ["enum", "items", "minimum", "maximum"] {
                schema.extend(of(keyword).map(|value| (keyword.to_owned(), value)));
            }
            (name.clone(), Schema::from_document(schema))
        });
        Schema::object(schemas).no_additional()
    }

    fn fields(&self) -> Value {
        let listed = |map: &Map<String, Value>| {
            if map.is_empty() { json!([]) } else { Value::Object(map.clone()) }
        };
        let none: [&str; 0] = [];
        json!({
            "api_version": 3,
            "title": self.title,
            "name": self.name,
            "is_dynamic": self.dynamic,
            "description": self.description,
            "icon": null,
            "category": (!self.category.is_empty()).then_some(&self.category),
            "keywords": self.keywords,
            "parent": self.parent,
            "ancestor": null,
            "allowed_blocks": self.allowed_blocks,
            "attributes": self.attributes,
            "provides_context": none,
            "uses_context": none,
            "selectors": listed(&self.selectors),
            "supports": listed(&self.supports),
            "styles": none,
            "variations": none,
            "block_hooks": none,
            "textdomain": null,
            "example": null,
            "editor_script_handles": none,
            "script_handles": none,
            "view_script_handles": none,
            "view_script_module_ids": none,
            "editor_style_handles": none,
            "style_handles": none,
            "view_style_handles": none,
            "editor_script": null,
            "script": null,
            "view_script": null,
            "editor_style": null,
            "style": null,
        })
    }
}

/// What the operations share.
struct Blocks {
    item: CompiledItem,
    namespace: String,
    /// What the attributes of each type may be.
    attributes: BTreeMap<&'static str, contract::rest::Node>,
}

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = item();
    let compiled = item.compile().expect("the schema of a type of block is well formed");
    let compile = |block: &'static BlockType| {
        let node = block.attribute_schema().compile();
        (block.name.as_str(), node.expect("the attributes of a block are well formed"))
    };
    let attributes = ALL_TYPES.iter().map(compile).collect();
    let blocks = Arc::new(Blocks { item: compiled, namespace: names.content.clone(), attributes });
    let run = |operation: fn(&Blocks, &mut Call<'_>) -> Result<Reply, Stop>| {
        let blocks = Arc::clone(&blocks);
        move |call: &mut Call<'_>| operation(&blocks, call)
    };
    let namespace = || Schema::text().about("Only types of this namespace.");
    let list_args = || Args::new().arg("context", item.context_arg()).arg("namespace", namespace());
    let one_args = Args::new()
        .arg("name", Schema::text().about("Name of the type."))
        .arg("namespace", namespace())
        .arg("context", item.context_arg());
    let context = Schema::text().choices(&["edit"]).default("view");
    let render_args = Args::new()
        .arg("name", Schema::text().about("Name of the type."))
        // The view that is assumed is none that there is: clients must name theirs.
        .treated("context", context.about("Scope of the request."), Treatment::None)
        .arg("attributes", Schema::map().default(json!([])).about("Attributes of the block."))
        .arg("post_id", Schema::integer().about("The item in which the block is."));
    let rendered = Schema::object([("rendered", Schema::text().about("The block as HTML."))]);
    let document = item.document();
    let name = "[a-zA-Z0-9_-]+";
    let of_namespace = format!("/block-types/(?P<namespace>{name})");
    vec![
        Route::at(&names.content, "/block-types")
            .on(READ, list_args(), memory(may_view, run(list)))
            .lists()
            .schema(document.clone()),
        Route::at(&names.content, &of_namespace)
            .on(READ, list_args(), memory(may_view, run(list)))
            .lists()
            .schema(document.clone()),
        Route::at(&names.content, &format!("{of_namespace}/(?P<name>{name})"))
            .on(READ, one_args, memory(may_view, run(show)))
            .schema(document),
        Route::at(&names.content, "/block-renderer/(?P<name>[a-z0-9-]+/[a-z0-9-]+)")
            .on(RENDER, render_args, read(may_render, run(render)))
            .shows(rendered),
    ]
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).or_null().context(ALL).readonly();
    let map = |about: &str| {
        let either = Schema::types(&["object", "array"]);
        either.about(about).context(ALL).readonly()
    };
    let texts =
        |about: &str| Schema::list(Schema::text()).about(about).or_null().context(ALL).readonly();
    let list = |about: &str| Schema::types(&["array"]).about(about).context(ALL).readonly();
    let any = |about: &str| Schema::types(&["object", "null"]).about(about).context(ALL).readonly();
    Item::new(
        "block-type",
        Schema::object([
            (
                "api_version",
                Schema::integer().about("Version of the interface.").context(ALL).readonly(),
            ),
            ("title", text("Its title.")),
            ("name", text("Its name.")),
            ("is_dynamic", Schema::boolean().about("Shows data.").context(ALL).readonly()),
            ("description", text("What it is for.")),
            ("icon", text("Its icon.")),
            ("category", text("Where the editor lists it.")),
            ("keywords", texts("Words by which it is found.")),
            ("parent", texts("Types in which it may be.")),
            ("ancestor", texts("Types in which it may be, at any depth.")),
            ("allowed_blocks", texts("Types that may be in it.")),
            ("attributes", map("What it may be told.")),
            ("provides_context", map("What blocks in it are told.")),
            ("uses_context", list("What it is told by others.")),
            ("selectors", map("Where styles apply.")),
            ("supports", map("Features.")),
            ("styles", list("Looks that can be chosen.")),
            ("variations", list("Forms that can be chosen.")),
            ("block_hooks", map("Where it is put by itself.")),
            ("textdomain", text("The name of its translations.")),
            ("example", any("An example.")),
            ("editor_script_handles", list("Scripts of the editor.")),
            ("script_handles", list("Scripts.")),
            ("view_script_handles", list("Scripts of pages.")),
            ("view_script_module_ids", list("Modules of pages.")),
            ("editor_style_handles", list("Style sheets of the editor.")),
            ("style_handles", list("Style sheets.")),
            ("view_style_handles", list("Style sheets of pages.")),
            ("editor_script", text("Script of the editor.")),
            ("script", text("Script.")),
            ("view_script", text("Script of pages.")),
            ("editor_style", text("Style sheet of the editor.")),
            ("style", text("Style sheet.")),
        ]),
    )
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    if ALL_KINDS.iter().any(|kind| call.can(kind.may.edit)) {
        return Ok(());
    }
    let message = "You are not allowed to use blocks.";
    Err(call.deny("rest_block_type_cannot_view", message).into())
}

fn prepare(blocks: &Blocks, call: &Call<'_>, block: &BlockType, context: &str) -> Reply {
    let at = |path: &str| call.visit.rest(&format!("/{}/{path}", blocks.namespace));
    let mut links = Links::new()
        .to("collection", at("block-types"))
        .to("self", at(&format!("block-types/{}", block.name)))
        .to("up", at(&format!("block-types/{}", block.namespace())));
    if block.dynamic {
        let rendered = format!("block-renderer/{}?context=edit", block.name);
        links = links.to("wp:render-block", at(&rendered));
    }
    Reply::new(blocks.item.filter_by_context(block.fields(), context)).links(links)
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list(blocks: &Blocks, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let namespace = call.params.text("namespace").filter(|namespace| !namespace.is_empty());
    let is_wanted = |block: &&BlockType| namespace.is_none_or(|name| name == block.namespace());
    let context = call.context();
    let wanted = ALL_TYPES.iter().filter(is_wanted);
    let items = wanted.map(|block| prepare(blocks, call, block, &context).into_json().2);
    Ok(Reply::new(items.collect::<Vec<_>>()))
}

fn find(name: &str) -> Option<&'static BlockType> {
    ALL_TYPES.iter().find(|block| block.name == name)
}

fn show(blocks: &Blocks, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let part = |name: &str| call.params.text(name).unwrap_or_default();
    let name = format!("{}/{}", part("namespace"), part("name"));
    let missing = || Refusal::new(404, "rest_block_type_invalid", "Type of block not found.");
    let block = find(&name).ok_or_else(missing)?;
    Ok(prepare(blocks, call, block, &call.context()))
}

fn may_render(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to render blocks.";
    let Some(post_id) = call.params.int("post_id").filter(|id| *id > 0) else {
        return call.need(Capability::EditPosts, "block_cannot_read", message);
    };
    let item = records::get(call, post_id)?;
    if item.is_some_and(|row| permit::may_edit(&call.visit.identity, &row)) {
        return Ok(());
    }
    Err(call.deny("block_cannot_read", message).into())
}

/// What the site makes of a block that stands in stored content, by the name that it has there;
/// nothing for one that is shown as it is stored.
pub(super) fn made(
    call: &mut Call<'_>,
    name: &str,
    given: &Value,
) -> Result<Option<String>, Error> {
    let Some(block) = find(&format!("core/{name}")).filter(|block| block.dynamic) else {
        return Ok(None);
    };
    let given = given.as_object().cloned().unwrap_or_default();
    render::block(call, &block.name, &with_defaults(block, given))
}

fn with_defaults(block: &BlockType, mut attributes: Map<String, Value>) -> render::Attributes {
    for (name, attribute) in &block.attributes {
        let default = attribute.get("default").filter(|default| !default.is_null());
        if let (Some(default), false) = (default, attributes.contains_key(name)) {
            attributes.insert(name.clone(), default.clone());
        }
    }
    render::Attributes(attributes)
}

fn render(blocks: &Blocks, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let invalid = |name: &str, error| {
        Stop::from(params::invalid_params(vec![(name.to_owned(), Some(error))]))
    };
    if call.context() != "edit" {
        let error = ParamError::new("rest_not_in_enum", "context must be edit.");
        return Err(invalid("context", error));
    }
    let name = call.params.text("name").unwrap_or_default().to_owned();
    let missing = || Refusal::new(404, "block_invalid", "There is no such block to render.");
    let block = find(&name).filter(|block| block.dynamic).ok_or_else(missing)?;
    let given = call.params.get("attributes").and_then(Value::as_object).cloned();
    let attributes = given.unwrap_or_default();
    if let Some(node) = blocks.attributes.get(block.name.as_str()) {
        let checked = validate(node, &Value::Object(attributes.clone()), "");
        checked.map_err(|error| invalid("attributes", error))?;
    }
    let html = render::block(call, &block.name, &with_defaults(block, attributes))?;
    Ok(Reply::new(json!({ "rendered": html.ok_or_else(missing)? })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_named_once_and_has_attributes_that_can_be_checked() {
        let mut names: Vec<&str> = ALL_TYPES.iter().map(|block| block.name.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "no type is there twice");
        for block in ALL_TYPES.iter() {
            assert!(block.name.split_once('/').is_some(), "{}", block.name);
            block.attribute_schema().compile().unwrap();
            let unknown = block
                .supports
                .values()
                .find(|value| value.as_str().is_some_and(|text| text.starts_with('$')));
            assert_eq!(unknown, None, "{}", block.name);
        }
    }

    #[test]
    fn attributes_follow_from_features() {
        let paragraph = find("core/paragraph").unwrap();
        for name in ["content", "align", "backgroundColor", "fontFamily", "anchor", "lock"] {
            assert!(paragraph.attributes.contains_key(name), "{name}");
        }
        let html = find("core/html").unwrap();
        assert!(!html.attributes.contains_key("className"), "it takes no class");
        assert!(!html.attributes.contains_key("anchor"));
    }

    #[test]
    fn whatever_is_dynamic_can_be_rendered() {
        for block in ALL_TYPES.iter() {
            assert_eq!(block.dynamic, render::RENDERED.contains(&block.name.as_str()));
        }
    }
}
