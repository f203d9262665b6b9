//! `boardwalk demo`: a sandbox with everything in it, and its server.
//!
//! An empty data folder is filled first: an ISO with a key and a template, merchants with stores
//! and terminals, an administrator, and a shop whose orders were partly taken on those terminals. A
//! folder that has all that is served as it is, with fresh credentials.

use std::sync::Arc;

use commerce::demo::{self, Made, ORDERS_DEFAULT, Plan, SEED_DEFAULT, Seller, Standing};
use contract::{Compiled, Permission};
use frame::auth::application_password::{create_password, in_groups};
use frame::users::{NewUser, account, create_user};
use onboarding::dialect::ResponseStyle;
use onboarding::keys::{KEY_LIFE_DEFAULT, KeyLife};
use onboarding::{Cx, Origin, Platform, RequestOptions, endpoints};
use serde_json::{Value, json};
use server::Serving;
use site_rows::application_password;
use types::{Environment, Error, IsoId, Result, Role, Scope, ScopeSet, Secret};

use super::serve::{choose_admin_address, run_until_stopped, serving};
use crate::args::{Common, Demo};
use crate::config::Config;
use crate::output::Printer;
use crate::{logging, server_lock};

const DEMO_ISO: &str = "Demo ISO";
const DEMO_KEY: &str = "demo";
const DEMO_TEMPLATE: &str = "RESTAURANT01";
const DEMO_LOGIN: &str = "admin";
const DEMO_EMAIL: &str = "admin@site.example";

/// A merchant of the demo, with the person who answers for it.
struct Merchant {
    dba: &'static str,
    zip_code: &'static str,
    mcc_code: &'static str,
    /// First and last name.
    person: (&'static str, &'static str),
    street: &'static str,
    device_model: &'static str,
    /// Each by its name, and how many terminals it has.
    stores: &'static [(&'static str, usize)],
}

const MERCHANTS: [Merchant; 6] = [
    Merchant {
        dba: "Pier Nine Coffee",
        zip_code: "08401",
        mcc_code: "5812",
        person: ("Nora", "Whitlock"),
        street: "Atlantic Avenue",
        device_model: "P3",
        stores: &[("Pier Nine Coffee", 2), ("Pier Nine Kiosk", 1)],
    },
    Merchant {
        dba: "Saltwater Books",
        zip_code: "07030",
        mcc_code: "5942",
        person: ("Theo", "Marsh"),
        street: "Washington Street",
        device_model: "P5",
        stores: &[("Saltwater Books", 1)],
    },
    Merchant {
        dba: "Lantern Outfitters",
        zip_code: "10013",
        mcc_code: "5651",
        person: ("Imani", "Okafor"),
        street: "Greene Street",
        device_model: "P8",
        stores: &[("Lantern Outfitters", 2)],
    },
    Merchant {
        dba: "Dune Street Bakery",
        zip_code: "19103",
        mcc_code: "5462",
        person: ("Lucia", "Ferrante"),
        street: "Dune Street",
        device_model: "P3",
        stores: &[("Dune Street Bakery", 1), ("Dune Street West", 1)],
    },
    Merchant {
        dba: "Tidepool Toys",
        zip_code: "02110",
        mcc_code: "5945",
        person: ("Ben", "Ashworth"),
        street: "Summer Street",
        device_model: "P5",
        stores: &[("Tidepool Toys", 1)],
    },
    Merchant {
        dba: "Keeper Hardware",
        zip_code: "21401",
        mcc_code: "5251",
        person: ("Grace", "Tillman"),
        street: "Main Street",
        device_model: "P8",
        stores: &[("Keeper Hardware", 1)],
    },
];

pub(crate) fn demo(mut config: Config, common: &Common, args: Demo, out: &Printer) -> Result<()> {
    if common.environment == Some(Environment::Production) {
        return Err(Error::invalid("the demo always runs in the sandbox; remove --environment"));
    }
    let _log = logging::start(&config.log)?;
    config.server.rate_limits.enabled = false;
    config.listen.sandbox = args.listen.unwrap_or(config.listen.sandbox);
    choose_admin_address(&mut config, args.admin_listen);
    let _lock = server_lock::take(&config, Environment::Sandbox)?;
    let serving = serving(&config, Environment::Sandbox)?;
    let standing = serving.platform.store.read_blocking(demo::standing)?;
    check(standing, &args)?;
    let key = furnish(&serving.platform)?;
    let (owner_id, password) = furnish_site(&serving.platform)?;
    let mut devices = Devices::default();
    if standing == Standing::Empty {
        let made;
        (made, devices) = fill(&serving, &args, (owner_id, &key), out)?;
        let Made { orders, refunds, customers } = made;
        tracing::info!(orders, refunds, customers, "the demo shop is ready");
    }
    // Port 0 lets the system choose, so the address is known only when it is served.
    let greet = |url: &str| {
        let object = json!({
            "url": url,
            "api_key": key,
            "template": DEMO_TEMPLATE,
            "login": DEMO_LOGIN,
            "application_password": password,
            "password": password,
            "portal": portal::PORTAL.is_here().then(|| format!("{url}/portal/")),
            "device_token": devices.token,
            "pairing_code": devices.pairing_code,
        });
        out.result(&object, &welcome(url, &key, &password));
    };
    run_until_stopped(vec![serving], config, out, &greet)
}

/// Whether what is asked for can be had on what is there.
fn check(standing: Standing, args: &Demo) -> Result<()> {
    let asks = args.orders.is_some() || args.seed.is_some();
    match standing {
        Standing::Made { orders, seed } => {
            let fits = args.orders.is_none_or(|asked| asked == orders)
                && args.seed.is_none_or(|asked| asked == seed);
            let message = format!(
                "this data folder contains a demo with {orders} orders and seed {seed}; remove \
                 --orders and --seed, or choose an empty folder with --data"
            );
            if fits { Ok(()) } else { Err(Error::conflict(message)) }
        }
        Standing::CutOff => Err(Error::conflict(
            "the demo in this data folder was interrupted while it was being created; remove the \
             folder, or choose an empty one with --data",
        )),
        Standing::InUse if asks => Err(Error::conflict(
            "this data folder contains another shop; remove --orders and --seed, or choose an \
             empty folder with --data",
        )),
        Standing::Empty | Standing::InUse => Ok(()),
    }
}

/// Fills an empty sandbox with merchants and a shop.
fn fill(
    serving: &Serving,
    args: &Demo,
    (owner_id, key): (i64, &str),
    out: &Printer,
) -> Result<(Made, Devices)> {
    let (sellers, devices) = onboard(&serving.platform, key)?;
    let plan = Plan {
        seed: args.seed.unwrap_or(SEED_DEFAULT),
        orders: args.orders.unwrap_or(ORDERS_DEFAULT),
        days: demo::DAYS_DEFAULT,
        until: serving.platform.clock.now(),
        owner_id,
        sellers,
    };
    let progress = out.progress("creating orders", plan.orders);
    let made = demo::make(&serving.site, &plan, &mut |orders| progress.set_position(orders));
    progress.finish_and_clear();
    let now = serving.platform.clock.now();
    serving
        .platform
        .store
        .write_blocking(move |conn| admin::notes::follow::look_over(conn, now))?;
    Ok((made?, devices))
}

/// What a new demo has for programs that play a terminal's device.
#[derive(Debug, Default)]
struct Devices {
    /// Of a device that is paired with the first terminal.
    token: Option<String>,
    /// By which a device can be paired with the second one.
    pairing_code: Option<String>,
}

/// The demo's ISO as a caller of its own endpoints.
struct Caller {
    runtime: tokio::runtime::Runtime,
    endpoints: Vec<Compiled<Cx>>,
    cx: Cx,
}

impl Caller {
    fn new(platform: &Arc<Platform>, key: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(|error| Error::internal("cannot start the async runtime").because(error))?;
        let now = platform.clock.now();
        let header = format!("api-key {key}");
        let caller = platform.authenticate(Some(header.as_bytes()), Scope::OnboardWrite, None, now);
        let refused = |_| Error::internal("the demo's API key was rejected");
        let caller = runtime.block_on(caller)?.map_err(refused)?;
        let (request_options, origin) = (RequestOptions::default(), Origin::default());
        let (platform, caller) = (Arc::clone(platform), Some(caller));
        let administrator = None;
        let cx = Cx { platform, caller, device: None, administrator, now, request_options, origin };
        Ok(Self { runtime, endpoints: endpoints::table().into_endpoints(), cx })
    }

    fn call(&self, cx: &Cx, name: &str, body: Value) -> Result<Value> {
        let endpoint = self.endpoints.iter().find(|endpoint| &*endpoint.name == name);
        let endpoint = endpoint.ok_or_else(|| Error::internal(format!("there is no {name}")))?;
        let outcome = self.runtime.block_on(endpoint.run(body, cx));
        let answer = outcome.result.map_err(|failure| {
            Error::internal(format!("the demo's merchant {name} was rejected: {failure:?}"))
        })?;
        serde_json::from_slice(&answer).map_err(|error| {
            Error::internal(format!("the response for {name} is not JSON")).because(error)
        })
    }

    fn pairing_code(&self, tpn: &str) -> Result<String> {
        let answer = self.call(&self.cx, "pairing_code_create", json!({ "tpn": tpn }))?;
        member(&answer, "/code")
    }

    /// Pairs a device that is none with the terminal, and returns its token.
    fn pair(&self, tpn: &str) -> Result<String> {
        let header = format!("pairing-code {}", self.pairing_code(tpn)?);
        let device = self.cx.platform.authenticate_device(
            Some(header.as_bytes()),
            Permission::Pairing,
            self.cx.now,
        );
        let refused = |_| Error::internal("the demo's pairing code was rejected");
        let (device, _) = self.runtime.block_on(device)?.map_err(refused)?;
        let cx = Cx { caller: None, device: Some(device), ..self.cx.clone() };
        let answer = self.call(&cx, "device_pair", json!({ "serialNumber": "DEMO-0001" }))?;
        member(&answer, "/deviceToken")
    }
}

/// A text in an answer.
fn member(answer: &Value, pointer: &str) -> Result<String> {
    let text = answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| Error::internal(format!("a demo response lacks {pointer}")))
}

/// Onboards the merchants as a caller with the key would, and returns their terminals.
fn onboard(platform: &Arc<Platform>, key: &str) -> Result<(Vec<Seller>, Devices)> {
    let caller = Caller::new(platform, key)?;
    let mut sellers: Vec<Seller> = Vec::new();
    for merchant in &MERCHANTS {
        let first = sellers.len();
        for (store, terminals) in merchant.stores {
            for terminal in 0..*terminals {
                let known = sellers.get(first..).unwrap_or_default();
                let body = request(merchant, store, (terminal, sellers.len()), known);
                let answer = caller.call(&caller.cx, "onboard_merchant", body)?;
                sellers.push(Seller {
                    merchant_id: member(&answer, "/data/merchantId")?,
                    store_id: member(&answer, "/data/storeId")?,
                    tpn: member(&answer, "/data/tpn")?,
                });
            }
        }
    }
    let mut tpns = sellers.iter().map(|seller| &seller.tpn);
    let token = tpns.next().map(|tpn| caller.pair(tpn)).transpose()?;
    let pairing_code = tpns.next().map(|tpn| caller.pairing_code(tpn)).transpose()?;
    Ok((sellers, Devices { token, pairing_code }))
}

/// The request for a terminal of a store, with all that is not there yet. `known` are the
/// terminals that the merchant has.
fn request(
    merchant: &Merchant,
    store: &str,
    (terminal, number): (usize, usize),
    known: &[Seller],
) -> Value {
    let (first_name, last_name) = merchant.person;
    let domain = merchant.dba.to_lowercase().replace(' ', "-");
    let contact = |dba: &str| {
        json!({
            "dba": dba,
            "firstName": first_name,
            "lastName": last_name,
            "email": format!("{}@{domain}.example", first_name.to_lowercase()),
            "addressLine1": format!("{} {}", number * 7 + 10, merchant.street),
            "zipCode": merchant.zip_code,
            "phoneNumber": format!("21255501{:02}", number + 10),
            "ISDcode": "+1",
        })
    };
    let merchant_data = match known.first() {
        Some(seller) => json!({ "merchantId": seller.merchant_id }),
        None => contact(merchant.dba),
    };
    let mut place = match known.last().filter(|_| terminal > 0) {
        Some(seller) => json!({ "storeId": seller.store_id }),
        None => contact(store),
    };
    if let Some(place) = place.as_object_mut().filter(|place| place.contains_key("dba")) {
        place.insert("mccCode".to_owned(), json!(merchant.mcc_code));
    }
    let profile = json!({ "profileId": "01", "apiKey": format!("demo-processor-key-{number}") });
    let terminal = json!({
        "deviceManufacturer": "Kozen",
        "deviceModel": merchant.device_model,
        "tpnApplicationSign": "CRDT",
        "tpnRoutingType": "SIMPLE",
        "tpnAssignTemplate": DEMO_TEMPLATE,
        "tpnProcessor": { "processorName": "CKNX", "profile": [profile] },
    });
    json!({ "merchantData": merchant_data, "storeData": place, "tpnData": terminal })
}

/// An ISO with a template and a fresh key. Run again on the same folder, it replaces the key only.
fn furnish(platform: &Platform) -> Result<String> {
    let existing = platform.iso_list()?.into_iter().find(|iso| iso.name == DEMO_ISO);
    let iso_id: IsoId = if let Some(iso) = existing {
        iso.iso_id
    } else {
        let iso_id = platform.iso_create(DEMO_ISO, ResponseStyle::Detailed)?;
        platform.template_create(&iso_id, DEMO_TEMPLATE, &json!({ "tipEnabled": true }))?;
        iso_id
    };
    let old_keys = platform
        .key_list()?
        .into_iter()
        .filter(|key| key.iso_id == iso_id && key.name == DEMO_KEY && key.revoked.is_none());
    for key in old_keys {
        platform.key_revoke(&key.key_id)?;
    }
    let life = KeyLife::For(KEY_LIFE_DEFAULT);
    let key = platform.key_create(&iso_id, DEMO_KEY, ScopeSet::Full, life)?;
    Ok(key.text.expose().clone())
}

/// An administrator with a fresh application password. Run again, it replaces the password only.
fn furnish_site(platform: &Platform) -> Result<(i64, String)> {
    let (vault, now) = (Arc::clone(&platform.vault), platform.clock.now());
    let (owner_id, password) = platform.store.write_blocking(move |conn| {
        let user = if let Some(user) = site_rows::user::find_by_login(conn, DEMO_LOGIN)? {
            user
        } else {
            let mut new = NewUser::new(DEMO_LOGIN, DEMO_EMAIL, now);
            new.roles = vec![Role::Administrator];
            create_user(conn, &new).map_err(account::error_of)?
        };
        for old in application_password::list(conn, user.user_id)? {
            if old.name == DEMO_KEY {
                application_password::delete(conn, user.user_id, &old.uuid)?;
            }
        }
        let made = create_password(conn, &vault, user.user_id, (DEMO_KEY, ""), now);
        made.map(|(_, password)| (user.user_id, password))
    })?;
    let shown = in_groups(password.expose());
    // People sign in to the portal with the same words that programs send.
    super::user::set_password(platform, DEMO_LOGIN, &Secret::new(shown.clone()))?;
    Ok((owner_id, shown))
}

fn welcome(url: &str, key: &str, password: &str) -> String {
    let portal = if portal::PORTAL.is_here() {
        format!("Open\n\n  {url}/portal/\n\nand sign in")
    } else {
        "This binary was built without\nthe portal (`cargo xtask build` includes it). Call it"
            .to_owned()
    };
    format!(
        "A sandbox with an ISO, its merchants and a shop is ready. {portal} \
         as {DEMO_LOGIN} with the password\n\n  \
         {password}\n\n\
         The ISO's API key:\n\n  \
         {key}\n\n\
         Onboard a merchant, a store and a TPN:\n\n  \
         curl -s {url}/v1/onboardmerchant -H 'Authorization: api-key {key}' \\\n    \
         -H 'Content-Type: application/json' -d '{DEMO_BODY}'\n\n\
         Repeat the request to see an error. Retrieve the merchant with\n\n  \
         curl -s {url}/v1/merchants/MERCHANT_ID -H 'Authorization: api-key {key}'\n\n\
         The site's REST interface accepts the same login and password:\n\n  \
         curl -s '{url}/wp-json/wc/v3/orders?per_page=3' -u '{DEMO_LOGIN}:{password}'\n\n\
         The documentation is at {url}/docs/.\n"
    )
}

/// A full onboarding that works as it stands, once.
const DEMO_BODY: &str = concat!(
    r#"{"merchantData":{"dba":"Harbor Cafe","firstName":"Maria","email":"maria@harbor.example","#,
    r#""addressLine1":"12 Pier Road","zipCode":"10001","phoneNumber":"2125550142","#,
    r#""ISDcode":"+1"},"storeData":{"mccCode":"5812","firstName":"Maria","dba":"Harbor Cafe","#,
    r#""addressLine1":"12 Pier Road","zipCode":"10001","email":"maria@harbor.example","#,
    r#""phoneNumber":"2125550142","ISDcode":"+1"},"tpnData":{"deviceManufacturer":"Kozen","#,
    r#""deviceModel":"P3","tpnApplicationSign":"CRDT","tpnRoutingType":"SIMPLE","#,
    r#""tpnProcessor":{"processorName":"CKNX","profile":[{"profileId":"01","#,
    r#""apiKey":"demo-processor-key"}]}}}"#
);
