//! The abilities that there are, each a name for a route or for facts about the site. What one
//! takes and gives is what its route publishes.

use contract::rest::route::Verb;
use frame::{AbilityCategory, Call, Names, Site};
use serde_json::{Map, Value, json};

pub(super) const CATEGORIES: &[AbilityCategory] = &[
    AbilityCategory { slug: "site", label: "Site", about: "What is known about the site." },
    AbilityCategory {
        slug: "content",
        label: "Content",
        about: "Posts, pages and what readers search.",
    },
    AbilityCategory { slug: "orders", label: "Orders", about: "Orders of the store." },
    AbilityCategory { slug: "reports", label: "Reports", about: "Figures of the store." },
];

/// Something that a program may do.
#[derive(Debug)]
pub(super) struct Ability {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) about: &'static str,
    pub(super) category: &'static str,
    pub(super) runs: Runs,
}

/// How an ability is carried out.
#[derive(Debug)]
pub(super) enum Runs {
    /// What is known about the site, by these names.
    Facts(&'static [Fact]),
    /// A request to a route.
    Request(Target),
}

/// A fact about the site.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) value: fn(&Call<'_>) -> String,
}

/// A route, and which of its parameters an ability takes.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) verb: Verb,
    pub(super) namespace: fn(&Names) -> &str,
    /// Below the namespace; a parameter in braces is a part of the path.
    pub(super) path: &'static str,
    pub(super) inputs: &'static [&'static str],
}

const SITE_FACTS: &[Fact] = &[
    Fact { name: "name", about: "Site name.", value: |call| call.options().text("blogname") },
    Fact {
        name: "description",
        about: "Site tagline.",
        value: |call| call.options().text("blogdescription"),
    },
    Fact { name: "url", about: "Address of the site.", value: |call| call.visit.home.clone() },
    Fact { name: "wpurl", about: "Address of the site.", value: |call| call.visit.home.clone() },
    Fact {
        name: "admin_email",
        about: "E-mail address of the administrator.",
        value: |call| call.options().text("admin_email"),
    },
    Fact { name: "charset", about: "Character set.", value: |_| String::from("UTF-8") },
    Fact {
        name: "language",
        about: "Language.",
        value: |call| call.options().text("WPLANG").replace('_', "-"),
    },
    Fact { name: "version", about: "Version of the program.", value: |_| VERSION.to_owned() },
];
const VERSION: &str = env!("CARGO_PKG_VERSION");

const ENVIRONMENT_FACTS: &[Fact] = &[
    Fact {
        name: "environment",
        about: "Sandbox or production.",
        value: |call| call.site.environment().name().to_owned(),
    },
    Fact {
        name: "time_zone",
        about: "Time zone of the site.",
        value: |call| call.options().zone_name(),
    },
    Fact { name: "version", about: "Version of the program.", value: |_| VERSION.to_owned() },
];

pub(super) const ABILITIES: &[Ability] = &[
    Ability {
        name: "core/get-site-info",
        label: "Get site information",
        about: "Returns facts about the site.",
        category: "site",
        runs: Runs::Facts(SITE_FACTS),
    },
    Ability {
        name: "core/get-environment-info",
        label: "Get environment information",
        about: "Returns facts about the environment in which the site runs.",
        category: "site",
        runs: Runs::Facts(ENVIRONMENT_FACTS),
    },
    Ability {
        name: "boardwalk/search",
        label: "Search the site",
        about: "Searches posts, pages, products and terms.",
        category: "content",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.content,
            path: "/search",
            inputs: &["search", "type", "subtype", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/list-orders",
        label: "List orders",
        about: "Lists orders of the store.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.commerce_v3,
            path: "/orders",
            inputs: &["status", "customer", "search", "after", "before", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/read-order",
        label: "Read an order",
        about: "Returns an order of the store.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.commerce_v3,
            path: "/orders/{id}",
            inputs: &["id"],
        }),
    },
    Ability {
        name: "boardwalk/add-order-note",
        label: "Add a note to an order",
        about: "Adds a note to an order, for the staff or for the customer.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Post,
            namespace: |names| &names.commerce_v3,
            path: "/orders/{order_id}/notes",
            inputs: &["order_id", "note", "customer_note"],
        }),
    },
    Ability {
        name: "boardwalk/revenue-report",
        label: "Run the revenue report",
        about: "Returns revenue by interval.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/revenue/stats",
            inputs: &["after", "before", "interval", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/orders-report",
        label: "Run the orders report",
        about: "Returns figures about orders by interval.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/orders/stats",
            inputs: &["after", "before", "interval", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/products-report",
        label: "Run the products report",
        about: "Returns what each product sold.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/products",
            inputs: &["after", "before", "orderby", "order", "page", "per_page"],
        }),
    },
];

impl Target {
    /// The path of a request, with what the input says about it.
    pub(super) fn path_for(&self, names: &Names, input: &Map<String, Value>) -> String {
        let mut path = format!("/{}{}", (self.namespace)(names), self.path);
        for name in self.inputs {
            let value = match input.get(*name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => String::from("0"),
            };
            // What is no plain word finds no route.
            let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let value = if plain { value } else { String::from("-") };
            path = path.replace(&format!("{{{name}}}"), &value);
        }
        path
    }
}

impl Ability {
    pub(super) fn is_readonly(&self) -> bool {
        match &self.runs {
            Runs::Facts(_) => true,
            Runs::Request(target) => target.verb == Verb::Get,
        }
    }

    /// What it takes, as its route says.
    pub(super) fn input_schema(&self, site: &Site) -> Value {
        let properties = match &self.runs {
            Runs::Facts(facts) => {
                let names: Vec<&str> = facts.iter().map(|fact| fact.name).collect();
                let items = json!({ "type": "string", "enum": names });
                let about = "The facts that are wanted; all of them without it.";
                json!({ "fields": { "type": "array", "items": items, "description": about } })
            }
            Runs::Request(target) => {
                let args = route_document(site, target).and_then(|document| {
                    let endpoints = document.get("endpoints")?.as_array()?.clone();
                    let takes = |endpoint: &&Value| {
                        let methods = endpoint.get("methods").and_then(Value::as_array);
                        methods.is_some_and(|all| all.contains(&json!(target.verb.name())))
                    };
                    endpoints.iter().find(takes)?.get("args").cloned()
                });
                let known = args.as_ref().and_then(Value::as_object);
                let property =
                    |name: &&'static str| Some(((*name).to_owned(), known?.get(*name)?.clone()));
                Value::Object(target.inputs.iter().filter_map(property).collect())
            }
        };
        json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "default": {},
        })
    }

    /// What it gives, as its route says.
    pub(super) fn output_schema(&self, site: &Site) -> Value {
        match &self.runs {
            Runs::Facts(facts) => {
                let property = |fact: &Fact| {
                    let about = json!({ "type": "string", "description": fact.about });
                    (fact.name.to_owned(), about)
                };
                let properties: Map<String, Value> = facts.iter().map(property).collect();
                json!({
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": false,
                })
            }
            Runs::Request(target) => {
                let document = route_document(site, target);
                let schema = document.and_then(|document| document.get("schema").cloned());
                let mut schema = schema.unwrap_or(json!({}));
                // An answer has links besides its fields.
                if let Some(members) = schema.as_object_mut() {
                    members.entry("additionalProperties").or_insert(json!(true));
                }
                schema
            }
        }
    }
}

/// What the route of an ability publishes about itself.
fn route_document(site: &Site, target: &Target) -> Option<Value> {
    let path = target.path_for(&site.settings().names, &Map::new());
    Some(site.table().find(target.verb, &path)?.route.description())
}
