//! The lists and their tasks, and by what each is complete. **Nothing here is stored**: a task is
//! complete as long as the site is in the state it asks for.

use serde_json::{Value, json};

use super::facts::Facts;

pub(super) struct List {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) event_prefix: &'static str,
    /// The list with which it is hidden.
    pub(super) hidden_with: &'static str,
    pub(super) has_progress: bool,
    /// Never shown by itself, though its tasks can be looked at.
    pub(super) is_secret: bool,
    pub(super) tasks: &'static [Task],
}

pub(super) struct Task {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) content: &'static str,
    pub(super) label: &'static str,
    pub(super) time: &'static str,
    /// Below the site's address.
    pub(super) page: Option<&'static str>,
    pub(super) in_progress: &'static str,
    /// Can be dismissed and put off.
    pub(super) is_optional: bool,
    /// Can be looked at while its list is hidden.
    pub(super) is_always_there: bool,
    pub(super) is_visible: fn(&Facts) -> bool,
    pub(super) is_complete: fn(&Facts) -> bool,
    pub(super) data: fn(&Facts) -> Value,
}

pub(super) const IN_PROGRESS: &str = "In progress";
pub(super) const LABEL_USUAL: &str = "Begin";

const TASK: Task = Task {
    id: "",
    title: "",
    content: "",
    label: LABEL_USUAL,
    time: "",
    page: None,
    in_progress: IN_PROGRESS,
    is_optional: false,
    is_always_there: false,
    is_visible: |_| true,
    is_complete: |_| false,
    data: |_| Value::Null,
};

pub(super) static LISTS: &[List] = &[
    List {
        id: super::SETUP,
        title: "Set up your store",
        event_prefix: "tasklist_",
        hidden_with: super::SETUP,
        has_progress: true,
        is_secret: false,
        tasks: SETUP_TASKS,
    },
    List {
        id: "extended",
        title: "Things to do next",
        event_prefix: "extended_tasklist_",
        hidden_with: "extended",
        has_progress: false,
        is_secret: false,
        tasks: EXTENDED_TASKS,
    },
    List {
        id: "secret_tasklist",
        title: "Hidden tasks",
        event_prefix: "secret_tasklist_",
        hidden_with: super::SETUP,
        has_progress: false,
        is_secret: true,
        tasks: SECRET_TASKS,
    },
    List {
        id: super::BOARDWALK,
        title: "Onboard merchants",
        event_prefix: "boardwalk_tasklist_",
        hidden_with: super::BOARDWALK,
        has_progress: true,
        is_secret: false,
        tasks: BOARDWALK_TASKS,
    },
];

static SETUP_TASKS: &[Task] = &[
    Task {
        id: "products",
        title: "Add your products",
        content: "Create your first product manually, from a template or from our samples.",
        time: "1 minute per product",
        is_always_there: true,
        is_complete: |facts| facts.present.product,
        data: |facts| json!({ "hasProducts": facts.present.product }),
        ..TASK
    },
    Task {
        id: "payments",
        title: "Set up payments",
        content: "Offer your customers at least one payment method.",
        time: "5 minutes",
        page: Some("/wp-admin/admin.php?page=wc-settings&tab=checkout&from=WCADMIN_PAYMENT_TASK"),
        in_progress: "Test account",
        is_complete: |facts| facts.has_gateway,
        data: payments_data,
        ..TASK
    },
    Task {
        id: "customize-store",
        title: "Personalize your store",
        page: Some("/wp-admin/admin.php?page=wc-admin&path=%2Fcustomize-store"),
        is_complete: |facts| facts.is_on("woocommerce_admin_customize_store_completed"),
        ..TASK
    },
    Task {
        id: "tax",
        title: "Set up tax rates",
        content: "Set the tax rates you collect, or turn taxes off.",
        time: "1 minute",
        is_complete: |facts| {
            let collects_none = !facts.options.get("woocommerce_no_sales_tax").is_null();
            collects_none || facts.present.tax_rate
        },
        data: |_| tax_data(),
        ..TASK
    },
    Task {
        id: "shipping",
        title: "Set up shipping",
        content: "Create a shipping zone and set its rates.",
        time: "1 minute",
        is_visible: |facts| {
            let country = facts.country();
            let is_served = country.is_empty() || SHIPPING_COUNTRIES.contains(&country.as_str());
            is_served && !facts.is_on(CREATED_ZONES)
        },
        is_complete: |facts| facts.present.shipping_zone,
        ..TASK
    },
    Task {
        id: "launch-your-store",
        title: "Launch your store",
        content: "Make your store public when it is ready.",
        page: Some("/wp-admin/admin.php?page=wc-admin&path=%2Flaunch-your-store"),
        is_complete: |facts| !facts.is_on("woocommerce_coming_soon"),
        ..TASK
    },
];

const CREATED_ZONES: &str = "woocommerce_admin_created_default_shipping_zones";

static EXTENDED_TASKS: &[Task] = &[
    Task {
        id: "marketing",
        title: "Promote your store",
        content: "Discover the channels through which you can reach customers.",
        time: "2 minutes",
        page: Some("/wp-admin/admin.php?page=wc-admin&path=%2Fmarketing"),
        is_complete: |facts| super::is_actioned(facts, "marketing"),
        ..TASK
    },
    Task {
        id: "extend-store",
        title: "Extend your store",
        content: "Discover what extensions can do for you.",
        page: Some("/wp-admin/admin.php?page=wc-admin&path=%2Fextensions"),
        is_complete: |facts| facts.is_visited("extend-store"),
        ..TASK
    },
    Task {
        id: "payments",
        title: "Offer more payment methods",
        content: "Give your customers more ways to pay.",
        time: "2 minutes",
        page: Some("/wp-admin/admin.php?page=wc-settings&tab=checkout&from=WCADMIN_PAYMENT_TASK"),
        is_visible: |facts| facts.has_gateway,
        is_complete: |facts| facts.present.processor,
        data: payments_data,
        ..TASK
    },
    Task {
        id: "get-mobile-app",
        title: "Get the mobile app",
        content: "Sign in on your phone with a link that we e-mail you.",
        is_visible: |facts| facts.may_install && facts.has_mail,
        is_complete: |facts| facts.is_on("woocommerce_admin_dismissed_mobile_app_modal"),
        ..TASK
    },
    Task {
        id: "review-shipping",
        title: "Review your shipping zones",
        content: "We created some for you; check that they suit you.",
        page: Some("/wp-admin/admin.php?page=wc-settings&tab=shipping"),
        is_visible: |facts| facts.is_on(CREATED_ZONES),
        is_complete: |facts| facts.is_on("woocommerce_admin_reviewed_default_shipping_zones"),
        ..TASK
    },
];

static SECRET_TASKS: &[Task] = &[Task {
    id: "shipping-recommendation",
    title: "Find a shipping partner",
    content: "Compare partners that can ship your orders.",
    is_complete: |facts| facts.is_on("woocommerce_settings_shipping_recommendations_hidden"),
    ..TASK
}];

/// What the product itself needs, in a list of its own, so that clients find theirs unchanged.
static BOARDWALK_TASKS: &[Task] = &[
    Task {
        id: "store-details",
        title: "Add your store's address",
        content: "Enter the store's address and its e-mail address.",
        time: "1 minute",
        page: Some("/portal/store/settings"),
        is_optional: true,
        is_complete: |facts| {
            let parts = ["address", "city", "postcode"];
            let told = |part| !facts.options.text(&format!("woocommerce_store_{part}")).is_empty();
            parts.into_iter().all(told) && !facts.options.text("admin_email").is_empty()
        },
        ..TASK
    },
    Task {
        id: "api-key",
        title: "Create an API key for an ISO",
        content: "With an API key, an ISO's software can onboard merchants.",
        time: "1 minute",
        page: Some("/portal/console/keys"),
        is_optional: true,
        is_complete: |facts| facts.present.api_key,
        ..TASK
    },
    Task {
        id: "first-merchant",
        title: "Onboard your first merchant",
        content: "Use the API or the portal.",
        time: "2 minutes",
        page: Some("/portal/merchants/new"),
        is_optional: true,
        is_complete: |facts| facts.present.merchant,
        ..TASK
    },
    Task {
        id: "processor-bound",
        title: "Assign a payment processor to a TPN",
        content: "Give a terminal the processor account that it accepts cards with.",
        time: "2 minutes",
        page: Some("/portal/merchants"),
        is_optional: true,
        is_complete: |facts| facts.present.processor,
        ..TASK
    },
    Task {
        id: "webhook-endpoint",
        title: "Receive webhooks",
        content: "Add an endpoint that is notified of events.",
        time: "2 minutes",
        page: Some("/portal/console/webhooks"),
        is_optional: true,
        is_complete: |facts| facts.present.webhook_endpoint,
        ..TASK
    },
    Task {
        id: "application-password",
        title: "Connect an application",
        content: "Create an application password for a program that works with your store.",
        time: "1 minute",
        page: Some("/authorize-application"),
        is_optional: true,
        is_complete: |facts| facts.present.application_password,
        ..TASK
    },
    Task {
        id: "mail-relay",
        title: "Set up e-mail",
        content: "Set the mail server as mail.relay in the configuration.",
        page: Some("/docs/mail/"),
        is_optional: true,
        is_complete: |facts| facts.has_mail,
        ..TASK
    },
];

fn payments_data(facts: &Facts) -> Value {
    let country = facts.country();
    json!({
        "wooPaymentsIsActive": false,
        "wooPaymentsIsInstalled": false,
        "wooPaymentsSettingsCountryIsSupported": PAYMENTS_COUNTRIES.contains(&country.as_str()),
        "wooPaymentsIsOnboarded": false,
        "wooPaymentsHasTestAccount": false,
        "wooPaymentsHasOtherProvidersEnabled": facts.has_gateway,
        "wooPaymentsHasOtherProvidersNeedSetup": false,
        "wooPaymentsHasOnlineGatewaysEnabled": facts.present.processor,
    })
}

fn tax_data() -> Value {
    json!({
        "avalaraActivated": false,
        "taxJarActivated": false,
        "stripeTaxActivated": false,
        "woocommerceTaxActivated": false,
        "woocommerceShippingActivated": false,
        "woocommerceTaxCountries": TAX_COUNTRIES,
        "stripeTaxCountries": STRIPE_TAX_COUNTRIES,
    })
}

const SHIPPING_COUNTRIES: &[&str] = &[
    "US", "CA", "AU", "NZ", "SG", "HK", "GB", "ES", "IT", "DE", "FR", "MX", "CO", "CL", "AR", "PE",
    "BR", "UY", "GT", "NL", "AT", "BE", "IE", "PT",
];
const PAYMENTS_COUNTRIES: &[&str] = &[
    "AE", "AT", "AU", "BE", "BG", "CA", "CH", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB",
    "GR", "HK", "HR", "HU", "IE", "IT", "JP", "LT", "LU", "LV", "MT", "NL", "NO", "NZ", "PL", "PR",
    "PT", "RO", "SE", "SG", "SI", "SK", "US",
];
const TAX_COUNTRIES: &[&str] = &[
    "US", "CA", "AU", "GB", "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR",
    "HR", "HU", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
];
const STRIPE_TAX_COUNTRIES: &[&str] = &[
    "AU", "AT", "BE", "BG", "CA", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HK", "HU",
    "IE", "IT", "JP", "LV", "LT", "LU", "MT", "NL", "NZ", "NO", "PL", "PT", "RO", "SG", "SK", "SI",
    "ES", "SE", "CH", "AE", "GB", "US",
];
