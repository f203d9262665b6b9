//! What kinds of content and taxonomies are called in each place of an administration.

use serde_json::{Value, json};

use super::kind::Kind;
use super::taxonomy::Taxonomy;

pub(super) fn of_kind(kind: &Kind) -> Value {
    let (many, one) = (kind.label, kind.singular);
    let (many_small, one_small) = (many.to_lowercase(), one.to_lowercase());
    let parent = kind.hierarchical.then(|| format!("Parent {one_small}:"));
    let mut labels = json!({
        "name": many,
        "singular_name": one,
        "add_new": format!("New {one_small}"),
        "add_new_item": format!("New {one_small}"),
        "edit_item": format!("Edit {one_small}"),
        "new_item": format!("New {one_small}"),
        "view_item": format!("View {one_small}"),
        "view_items": format!("View {many_small}"),
        "search_items": format!("Search {many_small}"),
        "not_found": format!("No {many_small}."),
        "not_found_in_trash": format!("No {many_small} in the trash."),
        "parent_item_colon": parent,
        "all_items": format!("All {many_small}"),
        "archives": format!("Archive of {many_small}"),
        "attributes": format!("Attributes of the {one_small}"),
        "insert_into_item": format!("Insert into the {one_small}"),
        "uploaded_to_this_item": format!("Uploaded to this {one_small}"),
        "featured_image": "Featured image",
        "set_featured_image": "Choose the featured image",
        "remove_featured_image": "Remove the featured image",
        "use_featured_image": "Use as featured image",
        "filter_items_list": format!("Filter {many_small}"),
        "filter_by_date": "Filter by date",
        "items_list_navigation": format!("Pages of {many_small}"),
        "items_list": format!("List of {many_small}"),
        "item_published": format!("The {one_small} is published."),
        "item_published_privately": format!("The {one_small} is published in private."),
        "item_reverted_to_draft": format!("The {one_small} is a draft again."),
        "item_trashed": format!("The {one_small} is in the trash."),
        "item_scheduled": format!("The {one_small} is scheduled."),
        "item_updated": format!("The {one_small} is updated."),
        "item_link": format!("Link to a {one_small}"),
        "item_link_description": format!("A link to a {one_small}."),
        "menu_name": many,
        "name_admin_bar": one,
    });
    let mut more = Vec::new();
    // Posts and pages have templates of more than one name.
    if !matches!(kind.name, "post" | "page") {
        more.push(("template_name", format!("Single {one_small}")));
    }
    if kind.name == "product" {
        more.extend([("edit", String::from("Edit")), ("parent", format!("Parent {one_small}"))]);
    }
    if let Some(labels) = labels.as_object_mut() {
        labels.extend(more.into_iter().map(|(name, text)| (name.to_owned(), json!(text))));
    }
    labels
}

pub(super) fn of_taxonomy(taxonomy: &Taxonomy) -> Value {
    let (many, one) = (taxonomy.label, taxonomy.singular);
    let (many_small, one_small) = (many.to_lowercase(), one.to_lowercase());
    let within = |text: String| taxonomy.hierarchical.then_some(text);
    let flat = |text: String| (!taxonomy.hierarchical).then_some(text);
    json!({
        "name": many,
        "singular_name": one,
        "search_items": format!("Search {many_small}"),
        "popular_items": flat(format!("Most used {many_small}")),
        "all_items": format!("All {many_small}"),
        "parent_item": within(format!("Parent {one_small}")),
        "parent_item_colon": within(format!("Parent {one_small}:")),
        "name_field_description": "The name as readers see it.",
        "slug_field_description": "The name as it stands in addresses.",
        "parent_field_description":
            within(format!("The {one_small} in which this one lies.")),
        "desc_field_description": "What it is about; not every theme shows it.",
        "edit_item": format!("Edit {one_small}"),
        "view_item": format!("View {one_small}"),
        "update_item": format!("Update {one_small}"),
        "add_new_item": format!("New {one_small}"),
        "new_item_name": format!("Name of the new {one_small}"),
        "separate_items_with_commas": flat(format!("Put commas between {many_small}")),
        "add_or_remove_items": flat(format!("Add or remove {many_small}")),
        "choose_from_most_used": flat(format!("Choose from the most used {many_small}")),
        "not_found": format!("No {many_small}."),
        "no_terms": format!("No {many_small}"),
        "filter_by_item": within(format!("Filter by {one_small}")),
        "items_list_navigation": format!("Pages of {many_small}"),
        "items_list": format!("List of {many_small}"),
        "most_used": "Most used",
        "back_to_items": format!("Back to {many_small}"),
        "item_link": format!("Link to a {one_small}"),
        "item_link_description": format!("A link to a {one_small}."),
        "menu_name": many,
        "name_admin_bar": taxonomy.name,
        "archives": format!("All {many_small}"),
    })
}
