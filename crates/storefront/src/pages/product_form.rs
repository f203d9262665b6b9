//! The form by which a product is put into the cart: a quantity, what a variation is chosen by, or
//! quantities of the members of a group. What it brings becomes requests to the Store API.

use content::web::Fields;
use serde_json::{Map, Value, json};

use super::path::ADD_TO_CART;
use super::values::{Choice, Price, flag, list, number, plain_text, price, text};

/// Members of a group that one form can name.
const MEMBERS_MAX: usize = 100;
const ATTRIBUTE: &str = "attribute_";

/// What the page offers to do with the product.
#[derive(Debug, Default)]
pub(super) struct BuyForm {
    pub(super) kind: FormKind,
    pub(super) product_id: i64,
    pub(super) quantity: String,
    pub(super) quantity_max: i64,
    pub(super) selects: Vec<Select>,
    pub(super) members: Vec<Member>,
    /// Where another shop sells it, and the words for that.
    pub(super) elsewhere: String,
    pub(super) elsewhere_text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FormKind {
    /// It cannot be bought here now.
    #[default]
    Nothing,
    Simple,
    /// One piece an order.
    Single,
    Variable,
    Group,
    Elsewhere,
}

/// An attribute to choose.
#[derive(Debug)]
pub(super) struct Select {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) choices: Vec<Choice>,
}

/// A product of a group.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) link: String,
    pub(super) price: Price,
    pub(super) quantity: String,
    pub(super) can_be_bought: bool,
}

impl BuyForm {
    pub(super) fn is(&self, kind: &str) -> bool {
        let own = match self.kind {
            FormKind::Nothing => "nothing",
            FormKind::Simple => "simple",
            FormKind::Single => "single",
            FormKind::Variable => "variable",
            FormKind::Group => "group",
            FormKind::Elsewhere => "elsewhere",
        };
        own == kind
    }

    /// The form for a product of the Store API; `members` are the products of a group, `typed` what
    /// was chosen before.
    pub(super) fn of(product: &Value, members: &[Value], typed: &Fields) -> Self {
        let is_sold = flag(product, "is_purchasable") && flag(product, "is_in_stock");
        let kind = match text(product, "type") {
            "external" => FormKind::Elsewhere,
            "grouped" if !members.is_empty() => FormKind::Group,
            "variable" if is_sold && !list(product, "variations").is_empty() => FormKind::Variable,
            "simple" if is_sold && flag(product, "sold_individually") => FormKind::Single,
            "simple" if is_sold => FormKind::Simple,
            _ => FormKind::Nothing,
        };
        let button = product.get("add_to_cart").unwrap_or(&Value::Null);
        Self {
            kind,
            product_id: number(product, "id"),
            quantity: match typed.text("quantity") {
                "" => String::from("1"),
                typed => typed.to_owned(),
            },
            quantity_max: number(button, "maximum"),
            selects: if kind == FormKind::Variable { selects(product, typed) } else { Vec::new() },
            members: members.iter().map(|member| Member::of(member, typed)).collect(),
            elsewhere: text(button, "url").to_owned(),
            elsewhere_text: plain_text(button, "text"),
        }
    }
}

impl Member {
    fn of(product: &Value, typed: &Fields) -> Self {
        let id = number(product, "id");
        let quantities = typed.all().get("quantity");
        let typed = quantities.and_then(|all| all.get(id.to_string())).and_then(Value::as_str);
        Self {
            id,
            name: plain_text(product, "name"),
            link: text(product, "permalink").to_owned(),
            price: price(product),
            quantity: typed.unwrap_or("0").to_owned(),
            can_be_bought: flag(product, "is_purchasable")
                && flag(product, "is_in_stock")
                && text(product, "type") == "simple",
        }
    }
}

fn selects(product: &Value, typed: &Fields) -> Vec<Select> {
    let own = list(product, "attributes").iter().filter(|own| flag(own, "has_variations"));
    let each = own.map(|attribute| {
        let key = match text(attribute, "taxonomy") {
            "" => frame::text::slugify(text(attribute, "name")),
            taxonomy => taxonomy.to_owned(),
        };
        let name = format!("{ATTRIBUTE}{key}");
        let chosen = typed.text(&name);
        let choices = list(attribute, "terms").iter().map(|term| Choice {
            value: text(term, "slug").to_owned(),
            text: plain_text(term, "name"),
            is_chosen: match chosen {
                "" => flag(term, "default"),
                chosen => chosen == text(term, "slug"),
            },
        });
        Select { label: plain_text(attribute, "name"), choices: choices.collect(), name }
    });
    each.collect()
}

/// What the form asks to put into the cart: bodies of requests to the Store API.
pub(super) fn wanted(fields: &Fields) -> Vec<Value> {
    let id = fields.text(ADD_TO_CART).parse::<i64>().unwrap_or_default();
    let quantities = fields.all().get("quantity");
    if let Some(Value::Object(members)) = quantities {
        let wanted = members.iter().filter_map(|(id, quantity)| {
            let quantity = quantity.as_str().filter(|text| !matches!(text.trim(), "" | "0"))?;
            Some(json!({ "id": id.parse::<i64>().unwrap_or_default(), "quantity": quantity }))
        });
        return wanted.take(MEMBERS_MAX).collect();
    }
    let mut body = Map::new();
    body.insert(String::from("id"), json!(id));
    if !fields.text("quantity").is_empty() {
        body.insert(String::from("quantity"), json!(fields.text("quantity")));
    }
    let chosen = fields.all().iter().filter_map(|(name, value)| {
        let (key, value) = (name.strip_prefix(ATTRIBUTE)?, value.as_str()?);
        (!value.is_empty()).then(|| json!({ "attribute": key, "value": value }))
    });
    let chosen: Vec<Value> = chosen.collect();
    if !chosen.is_empty() {
        body.insert(String::from("variation"), json!(chosen));
    }
    vec![Value::Object(body)]
}
