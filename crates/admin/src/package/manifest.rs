//! What plugins and themes declare. **A plugin holds no code**: it contributes by naming what it
//! wants shown, told, suggested or sent, and the site does it.

mod head;
mod theme;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Error, Result};

pub use self::head::is_slug;
use self::head::{check_head, wrong_slug};
pub use self::theme::{Colours, Fonts, PICTURES, Texts, ThemeManifest};
use self::words::{TEXT_LENGTH_MAX, check_address, check_texts, is_web};

/// `plugin.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PluginManifest {
    /// What it is called in addresses and requests.
    pub slug: String,
    pub name: String,
    pub version: String,
    pub description: String,
    pub author: String,
    /// Where its makers tell of it.
    pub uri: String,
    pub documentation: String,
    pub support: String,
    /// A picture among its files.
    pub icon: Option<String>,
    /// The groups of free extensions that offer it.
    pub bundles: Vec<String>,
    pub categories: Vec<String>,
    pub subcategories: Vec<Label>,
    pub tags: Vec<Label>,
    /// Where it is of use; everywhere if it names none.
    pub countries: Vec<String>,
    pub contributes: Contributions,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    pub slug: String,
    pub name: String,
}

/// What a plugin adds while it is active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contributions {
    pub tasks: Vec<Task>,
    pub notes: Vec<Note>,
    pub payment_gateways: Vec<Gateway>,
    pub shipping_partners: Vec<ShippingPartner>,
    pub channels: Vec<Channel>,
    pub campaigns: Vec<Campaign>,
    pub campaign_types: Vec<CampaignType>,
    pub emails: Vec<PluginEmail>,
    /// Orders get shipping labels and tracking numbers.
    pub shipping_labels: Option<ShippingLabels>,
    /// Templates of terminals, for people to start from.
    pub templates: Vec<Template>,
    /// Products, for people to start from.
    pub product_templates: Vec<ProductTemplate>,
    pub webhooks: Vec<Webhook>,
    pub pages: Vec<Page>,
    pub settings: Vec<Setting>,
    /// Services elsewhere that people can connect the site to.
    pub connections: Vec<Connection>,
}

/// Something for people to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub content: String,
    pub action_label: String,
    #[serde(default)]
    pub action_url: String,
    #[serde(default)]
    pub time: String,
    /// Done once this setting of the plugin has a value.
    #[serde(default)]
    pub done_with: Option<String>,
}

/// Something that people are told when the plugin is activated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub name: String,
    pub title: String,
    pub content: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    pub id: String,
    pub title: String,
    pub content: String,
    /// Everywhere if it names none.
    #[serde(default)]
    pub countries: Vec<String>,
    /// Lower comes first.
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub external_link: String,
    /// Customers pay on a page of the provider's own.
    #[serde(default)]
    pub hosted: Option<HostedGateway>,
}

/// How a provider with a payment page of its own is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostedGateway {
    /// The setting of the plugin that has the address. Without a value it is not offered.
    pub url_setting: String,
    /// The secret setting that messages in both directions are signed with.
    pub secret_setting: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippingPartner {
    pub id: String,
    pub name: String,
    pub description: String,
    /// Everywhere if it names none.
    #[serde(default)]
    pub countries: Vec<String>,
    /// Where it comes first.
    #[serde(default)]
    pub primary_in: Vec<String>,
    pub learn_more: String,
    pub features: Vec<Feature>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    pub title: String,
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    pub slug: String,
    pub name: String,
    pub description: String,
    pub settings_url: String,
    /// Set up once this setting of the plugin has a value; at once if it names none.
    #[serde(default)]
    pub set_up_with: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    pub id: String,
    pub channel: String,
    pub title: String,
    pub manage_url: String,
    #[serde(default)]
    pub cost: Option<Money>,
    #[serde(default)]
    pub sales: Option<Money>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Money {
    /// Decimal.
    pub value: String,
    pub currency: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignType {
    pub id: String,
    pub name: String,
    pub description: String,
    pub channel: String,
    pub create_url: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub name: String,
    pub title: String,
    pub description: String,
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductTemplate {
    pub name: String,
    pub title: String,
    pub description: String,
    /// As the shop's route for products takes it.
    pub product: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub name: String,
    pub topic: String,
    /// The setting of the plugin that has the address. Without a value nothing is sent.
    pub url_setting: String,
    /// The secret setting that messages are signed with; a random one if it names none.
    #[serde(default)]
    pub secret_setting: Option<String>,
}

/// A page of the plugin's documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub slug: String,
    pub title: String,
    /// A file in Markdown.
    pub file: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    pub service: String,
    /// Where people grant it.
    pub authorize_url: String,
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// An e-mail that customers are sent while the plugin is active.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginEmail {
    pub name: String,
    pub trigger: EmailTrigger,
    /// How long an order is unpaid before its buyer is reminded.
    #[serde(default = "one_day_of_hours")]
    pub after_hours: u32,
    /// May name `{site_title}`, `{order_number}` and `{customer_name}`, and so may the text.
    pub subject: String,
    pub text: String,
    /// Not sent while this setting is false.
    #[serde(default)]
    pub enabled_with: Option<String>,
    /// Sent under the name that this setting holds, and not as long as it holds none.
    #[serde(default)]
    pub sender_with: Option<String>,
    /// This setting says `daily`, `weekly` or `monthly`: how many of the plugin's e-mails one
    /// customer gets at most.
    #[serde(default)]
    pub at_most: Option<String>,
}

/// Which settings say how labels are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShippingLabels {
    /// `a6`, `a5` or `letter`.
    pub size_with: Option<String>,
    /// Whether labels are marked as insured.
    pub insured_with: Option<String>,
    /// The sender's name; that of the site where it is empty.
    pub sender_with: Option<String>,
}

fn one_day_of_hours() -> u32 {
    24
}

/// What an e-mail of a plugin follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmailTrigger {
    CustomerCreated,
    OrderCompleted,
    OrderUnpaid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: String,
    pub label: String,
    #[serde(default)]
    pub description: String,
    #[serde(rename = "type")]
    pub kind: SettingKind,
    #[serde(default)]
    pub default: Value,
    /// For a choice.
    #[serde(default)]
    pub choices: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingKind {
    Text,
    Url,
    Boolean,
    Integer,
    Choice,
    /// A text that is sealed when it is kept, and shown to nobody.
    Secret,
}

impl Setting {
    /// The value as it is kept, or what to give instead.
    pub fn accept(&self, value: &Value) -> Result<Value> {
        let refuse = |what: &str| Err(Error::invalid(format!("{} must be {what}", self.name)));
        match (self.kind, value) {
            (_, Value::Null) => Ok(self.default.clone()),
            (SettingKind::Text | SettingKind::Secret, Value::String(text))
                if text.len() <= TEXT_LENGTH_MAX =>
            {
                Ok(value.clone())
            }
            (SettingKind::Url, Value::String(text)) if text.is_empty() || is_web(text) => {
                Ok(value.clone())
            }
            (SettingKind::Boolean, Value::Bool(_)) => Ok(value.clone()),
            (SettingKind::Integer, Value::Number(number)) if number.is_i64() => Ok(value.clone()),
            (SettingKind::Choice, Value::String(text)) if self.choices.contains(text) => {
                Ok(value.clone())
            }
            (SettingKind::Text | SettingKind::Secret, _) => {
                refuse("a string of at most 4,000 bytes")
            }
            (SettingKind::Url, _) => refuse("a URL that starts with http:// or https://"),
            (SettingKind::Boolean, _) => refuse("true or false"),
            (SettingKind::Integer, _) => refuse("a whole number"),
            (SettingKind::Choice, _) => refuse("one of its choices"),
        }
    }
}

impl PluginManifest {
    /// The files that it names.
    pub(super) fn files(&self) -> Vec<&str> {
        let pages = self.contributes.pages.iter().map(|page| page.file.as_str());
        self.icon.as_deref().into_iter().chain(pages).collect()
    }

    /// The addresses that people are led to.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        let Contributions { tasks, payment_gateways, shipping_partners, .. } = &self.contributes;
        let Contributions { channels, campaigns, campaign_types, .. } = &self.contributes;
        let own = [&self.uri, &self.documentation, &self.support].into_iter();
        let all = own.chain(tasks.iter().map(|task| &task.action_url));
        let all = all.chain(payment_gateways.iter().map(|gateway| &gateway.external_link));
        let all = all.chain(shipping_partners.iter().map(|partner| &partner.learn_more));
        let all = all.chain(channels.iter().map(|channel| &channel.settings_url));
        let all = all.chain(campaigns.iter().map(|campaign| &campaign.manage_url));
        all.chain(campaign_types.iter().map(|kind| &kind.create_url)).map(String::as_str)
    }

    /// Every setting that a contribution names is one of the plugin's own.
    fn check_named_settings(&self) -> Result<()> {
        let Contributions { tasks, channels, emails, shipping_labels, webhooks, settings, .. } =
            &self.contributes;
        let gateways = self.contributes.payment_gateways.iter();
        let hosted = gateways.filter_map(|gateway| gateway.hosted.as_ref());
        let is_setting = |name: &str| settings.iter().any(|setting| setting.name == name);
        let named = webhooks.iter().map(|webhook| webhook.url_setting.as_str());
        let named = named.chain(webhooks.iter().filter_map(|one| one.secret_setting.as_deref()));
        let named = named.chain(tasks.iter().filter_map(|task| task.done_with.as_deref()));
        let of_emails = emails.iter().flat_map(|email| {
            [&email.enabled_with, &email.sender_with, &email.at_most].map(Option::as_deref)
        });
        let named = named.chain(of_emails.flatten());
        let of_labels = shipping_labels.iter().flat_map(|labels| {
            [&labels.size_with, &labels.insured_with, &labels.sender_with].map(Option::as_deref)
        });
        let named = named.chain(of_labels.flatten());
        let of_gateways = hosted.flat_map(|hosted| [&*hosted.url_setting, &*hosted.secret_setting]);
        let named = named.chain(of_gateways);
        let mut named = named.chain(channels.iter().filter_map(|one| one.set_up_with.as_deref()));
        if let Some(absent) = named.find(|name| !is_setting(name)) {
            return Err(Error::invalid(format!("the plugin has no setting named {absent}")));
        }
        Ok(())
    }

    pub(super) fn check(&self) -> Result<()> {
        check_head(&self.slug, &self.name, &self.version)?;
        check_texts(&serde_json::to_value(self).unwrap_or_default())?;
        self.addresses().try_for_each(check_address)?;
        let Contributions {
            tasks,
            notes,
            payment_gateways,
            shipping_partners,
            channels,
            campaigns,
            campaign_types,
            emails,
            templates,
            product_templates,
            pages,
            settings,
            connections,
            // Named by nobody; the settings that they name are looked at below.
            shipping_labels: _,
            webhooks: _,
        } = &self.contributes;
        let slugs = tasks.iter().map(|task| &task.id);
        let slugs = slugs.chain(notes.iter().map(|note| &note.name));
        let slugs = slugs.chain(payment_gateways.iter().map(|gateway| &gateway.id));
        let slugs = slugs.chain(shipping_partners.iter().map(|partner| &partner.id));
        let slugs = slugs.chain(channels.iter().map(|channel| &channel.slug));
        let slugs = slugs.chain(campaigns.iter().map(|campaign| &campaign.id));
        let slugs = slugs.chain(campaign_types.iter().map(|kind| &kind.id));
        let slugs = slugs.chain(emails.iter().map(|email| &email.name));
        let slugs = slugs.chain(templates.iter().map(|template| &template.name));
        let slugs = slugs.chain(product_templates.iter().map(|template| &template.name));
        let slugs = slugs.chain(connections.iter().map(|one| &one.service));
        let mut slugs = slugs.chain(pages.iter().map(|page| &page.slug));
        if let Some(slug) = slugs.find(|slug| !is_slug(slug)) {
            return Err(wrong_slug(slug));
        }
        if connections.iter().any(|one| !is_web(&one.authorize_url)) {
            return Err(Error::invalid("a connection has no authorization URL"));
        }
        self.check_named_settings()?;
        let is_channel = |slug: &str| channels.iter().any(|channel| channel.slug == slug);
        let of = campaigns.iter().map(|campaign| &campaign.channel);
        let mut of = of.chain(campaign_types.iter().map(|kind| &kind.channel));
        if let Some(absent) = of.find(|slug| !is_channel(slug)) {
            return Err(Error::invalid(format!("the plugin has no channel named {absent}")));
        }
        for setting in settings {
            if setting.kind == SettingKind::Secret && !setting.default.is_null() {
                return Err(Error::invalid(format!(
                    "the secret {} must not have a default",
                    setting.name
                )));
            }
            if !setting.default.is_null() {
                setting.accept(&setting.default)?;
            }
        }
        Ok(())
    }
}
