//! The shop on a phone: an e-mail with a link that signs in, and signing in by a code that the
//! phone reads from the screen ([`qr`]).

mod qr;

use contract::rest::route::{READ, Route, Verb};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::auth::magic_link;
use frame::mail::{self, Email, Sender};
use frame::managers::may_view;
use frame::pages::{Address, Link};
use frame::{Action, Call, Names, Options};
use serde_json::{Map, Value, json};

const MINUTES_OF_SECOND: u64 = 60;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let data = format!("/{}/data", names.commerce_v3);
    let own = format!("/{}/mobile-app", names.admin);
    let (data_again, own_again) = (data.clone(), own.clone());
    let first = move |call: &mut Call<'_>| list(call, &data, &own);
    let again = move |call: &mut Call<'_>| list(call, &data_again, &own_again);
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let item = Item::new(
        "data_index",
        Schema::object([
            ("slug", text("Resource name.")),
            ("description", text("Resource description.")),
        ]),
    );
    // The reference lists this route with two ways to read it, so ours has them, too.
    let index = Route::at(&names.admin, "/mobile-app")
        .on(READ, Args::new(), read(may_view, first))
        .lists()
        .on(READ, Args::new(), read(may_view, again))
        .schema(item.document());
    let data = format!("/{}/data", names.commerce_v3);
    let child = move |call: &mut Call<'_>| child(call, &data);
    let slug = Args::new().arg("slug", Schema::text().about("Resource name."));
    let children =
        Route::at(&names.admin, r"/mobile-app/(?P<slug>continents|countries|currencies)")
            .on(READ, slug, read(may_view, child))
            .unlisted();
    let send = Route::at(&names.admin, "/mobile-app/send-magic-link");
    let sent = Schema::object([("code", text("Result of the request."))]);
    let send =
        send.on(READ, Args::new(), write(may_view, send_link)).refuses_with(&[409]).shows(sent);
    let mut routes = vec![index, children, send];
    routes.extend(qr::routes(names));
    routes
}

/// One of the lists that the index links to.
fn child(call: &mut Call<'_>, data: &str) -> Result<Reply, Stop> {
    let slug = call.params.text("slug").unwrap_or_default().to_ascii_lowercase();
    Ok(Reply::new(call.ask(Verb::Get, &format!("{data}/{slug}"), Map::new())?))
}

/// What the reference lists here: the shop's lists of data, as if they stood below this route.
fn list(call: &mut Call<'_>, data: &str, own: &str) -> Result<Reply, Stop> {
    let items = call.ask(Verb::Get, data, Map::new())?;
    let items = items.as_array().cloned().unwrap_or_default().into_iter().map(|mut item| {
        let slug = item.get("slug").and_then(Value::as_str).unwrap_or_default().to_owned();
        let link = |path: &str| json!([{ "href": call.visit.rest(path) }]);
        let links = json!({ "self": link(&format!("{own}/{slug}")), "collection": link(own) });
        if let Some(members) = item.as_object_mut() {
            members.insert(String::from("_links"), links);
        }
        item
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

/// Sends the caller a link. **What is told of it is the same whether or not it arrives.**
fn send_link(call: &mut Call<'_>) -> Result<Reply, Stop> {
    const FAILED: &str = "error_sending_mobile_magic_link";
    let Some(user) = call.user().cloned() else { return Err(call.forbidden().into()) };
    call.may_issue_credentials()?;
    if !mail::is_on(call.site) {
        let message = "E-mail is turned off; ask the operator to set mail.relay.";
        return Err(Refusal::new(409, FAILED, message).into());
    }
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(call.options());
    if magic_link::sent_lately(call.conn()?, user.id(), now)? >= magic_link::PER_HOUR_MAX {
        let message =
            "Too many links were sent in the past hour; use one of them, or try again later.";
        return Err(Refusal::new(429, FAILED, message).into());
    }
    let path = magic_link::make(call.conn()?, site.vault(), user.id(), now)?;
    let address = format!("{home}{}", path.expose());
    let site_name = Options::read(call.conn()?)?.text("blogname");
    let minutes = magic_link::LIFE.as_secs() / MINUTES_OF_SECOND;
    let paragraphs = [
        format!("Open this link on your phone to sign in as {}.", user.row.login),
        format!(
            "The link works once and expires in {minutes} minutes. If you did not request it, \
             ignore this e-mail."
        ),
    ];
    let email = Email {
        to: &user.row.email,
        subject: "Your sign-in link",
        paragraphs: &paragraphs,
        link: Some(Link { text: "Sign in", href: Address::new(&address) }),
    };
    let sender = Sender { site_name: &site_name, home: &home };
    mail::enqueue(site, call.conn()?, sender, &email, now)?;
    Ok(Reply::new(json!({ "code": "success" })))
}
