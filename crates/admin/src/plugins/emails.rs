//! E-mails that active plugins have sent to customers: when an account is created, when an order
//! is complete, and when one stays unpaid.
//!
//! A follower of the feed sends what events ask for, and a look at unpaid orders the rest. **Each
//! e-mail about a record is sent once**, none of what happened long ago, and nobody gets more of a
//! plugin's e-mails than its setting allows. Where mail is off, nothing is sent, then or later.

use std::time::Duration;

use db::Conn;
use db::filter::Page;
use db::outbox::{self, SequencedEvent};
use frame::mail::{self, Email, Presentation, Sender};
use frame::{Options, Site};
use serde_json::Value;
use shop_rows::order::{self, OrderFilter, OrderKind, OrderRow};
use types::{Result, Timestamp};

use super::installed::{self, Installed};
use crate::package::manifest::{EmailTrigger, PluginEmail};
use crate::rows::plugin_email::{self, PluginEmailKey};

/// The name under which the follower's place is kept.
const FOLLOWER: &str = "plugin_emails";
/// Events that one step looks at.
const EVENTS_MAX: i64 = 200;
/// An event that is older is no news any more.
const NEWS_MAX: Duration = Duration::from_hours(24);
/// An order that has been unpaid for longer is left alone.
const UNPAID_MAX: Duration = Duration::from_hours(24 * 30);
/// Unpaid orders that one look finds.
const ORDERS_MAX: i64 = 100;
const UNPAID: &str = "pending";
const COMPLETE: &str = "completed";
/// What a setting may allow, and how long everybody is left in peace then.
const PEACE: &[(&str, Duration)] = &[
    ("daily", Duration::from_hours(24)),
    ("weekly", Duration::from_hours(24 * 7)),
    ("monthly", Duration::from_hours(24 * 30)),
];

/// Whether there are events to look at.
pub fn is_behind(conn: &mut dyn Conn) -> Result<bool> {
    let place = outbox::position(conn, FOLLOWER)?;
    Ok(!outbox::after(conn, place, 1)?.is_empty())
}

/// Looks at the next events and sends what they ask for. A conflict when another process did
/// meanwhile. Returns how many events there were.
pub fn step(site: &Site, conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let from = outbox::position(conn, FOLLOWER)?;
    let events = outbox::after(conn, from, EVENTS_MAX)?;
    let Some(last) = events.last() else { return Ok(0) };
    outbox::advance(conn, FOLLOWER, from, last.seq)?;
    let fresh: Vec<&SequencedEvent> =
        events.iter().filter(|event| now.since(event.created) <= NEWS_MAX).collect();
    if fresh.iter().any(|event| trigger_of(event).is_some()) && mail::is_on(site) {
        let plugins = senders(conn)?;
        for event in fresh {
            handle_event(site, conn, &plugins, event, now)?;
        }
    }
    Ok(events.len())
}

/// Whether a plugin that is active reminds of unpaid orders, so that looking for them is worth it.
pub fn reminds(conn: &mut dyn Conn) -> Result<bool> {
    let is_reminder = |email: &PluginEmail| email.trigger == EmailTrigger::OrderUnpaid;
    Ok(senders(conn)?.iter().any(|one| one.manifest.contributes.emails.iter().any(is_reminder)))
}

/// Reminds of orders that have been unpaid for long enough. Returns how many e-mails were sent.
pub fn remind(site: &Site, conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let mut sent = 0;
    if !mail::is_on(site) {
        return Ok(sent);
    }
    for plugin in senders(conn)? {
        let reminders = plugin.manifest.contributes.emails.iter();
        for email in reminders.filter(|email| email.trigger == EmailTrigger::OrderUnpaid) {
            let wait = Duration::from_hours(u64::from(email.after_hours));
            let filter = OrderFilter {
                kinds: vec![OrderKind::Order],
                statuses: vec![UNPAID.to_owned()],
                after: Some(earlier(now, UNPAID_MAX)),
                before: Some(earlier(now, wait)),
                page: Page { offset: 0, limit: ORDERS_MAX },
                ..OrderFilter::default()
            };
            for row in order::list(conn, &filter)?.0 {
                sent += usize::from(send_about_order(site, conn, &plugin, email, &row, now)?);
            }
        }
    }
    Ok(sent)
}

fn earlier(now: Timestamp, by: Duration) -> Timestamp {
    let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(micros))
}

/// Active plugins that have e-mails to send, and everything set that they need.
fn senders(conn: &mut dyn Conn) -> Result<Vec<Installed>> {
    let mut plugins = installed::active(conn)?;
    plugins.retain(|plugin| {
        let is_set_up = |email: &PluginEmail| {
            email.sender_with.as_deref().is_none_or(|setting| plugin.has_value(setting))
        };
        plugin.manifest.contributes.emails.iter().any(is_set_up)
    });
    Ok(plugins)
}

fn trigger_of(event: &SequencedEvent) -> Option<EmailTrigger> {
    match event.kind.as_str() {
        "customer.created" => Some(EmailTrigger::CustomerCreated),
        "order.created" | "order.updated" => {
            let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
            let status = payload.get("status").and_then(Value::as_str);
            (status == Some(COMPLETE)).then_some(EmailTrigger::OrderCompleted)
        }
        _ => None,
    }
}

fn handle_event(
    site: &Site,
    conn: &mut dyn Conn,
    plugins: &[Installed],
    event: &SequencedEvent,
    now: Timestamp,
) -> Result<()> {
    let (Some(trigger), Ok(id)) = (trigger_of(event), event.object_id.parse::<i64>()) else {
        return Ok(());
    };
    for plugin in plugins {
        for email in &plugin.manifest.contributes.emails {
            if email.trigger != trigger {
                continue;
            }
            if trigger == EmailTrigger::CustomerCreated {
                if let Some(user) = site_rows::user::get(conn, id)? {
                    let name = user.display_name.clone();
                    let about = About { id, to: &user.email, name: &name, number: "" };
                    send(site, conn, plugin, email, about, now)?;
                }
            } else if let Some(row) = order::get(conn, id)? {
                send_about_order(site, conn, plugin, email, &row, now)?;
            }
        }
    }
    Ok(())
}

/// The record that an e-mail is about, and whom it goes to.
#[derive(Clone, Copy)]
struct About<'a> {
    id: i64,
    to: &'a str,
    name: &'a str,
    /// Of the order; may be empty.
    number: &'a str,
}

fn send_about_order(
    site: &Site,
    conn: &mut dyn Conn,
    plugin: &Installed,
    email: &PluginEmail,
    row: &OrderRow,
    now: Timestamp,
) -> Result<bool> {
    let to = row.billing_email.clone();
    let about = About { id: row.order_id, to: &to, name: &to, number: &row.number };
    send(site, conn, plugin, email, about, now)
}

/// Queues the e-mail, unless it was sent, is switched off, or would be one too many.
fn send(
    site: &Site,
    conn: &mut dyn Conn,
    plugin: &Installed,
    email: &PluginEmail,
    about: About<'_>,
    now: Timestamp,
) -> Result<bool> {
    let is_off = |setting: &str| plugin.setting(setting) == Value::Bool(false);
    let lacks = |setting: &str| !plugin.has_value(setting);
    if !contract::rest::formats::is_email(about.to)
        || email.enabled_with.as_deref().is_some_and(is_off)
        || email.sender_with.as_deref().is_some_and(lacks)
    {
        return Ok(false);
    }
    let slug = plugin.row.slug.as_str();
    let key = PluginEmailKey { plugin: slug, name: &email.name, object_id: about.id };
    if plugin_email::was_sent(conn, key)? {
        return Ok(false);
    }
    let address = about.to.to_lowercase();
    let hash = site.vault().site_hash("plugin email", &address, slug);
    let chosen = email.at_most.as_deref().map(|setting| plugin.setting(setting));
    let peace = PEACE.iter().find(|(word, _)| chosen.as_ref().is_some_and(|one| one == word));
    let last = plugin_email::last_sent(conn, &hash, slug)?;
    if let (Some((_, peace)), Some(last)) = (peace, last)
        && now.since(last) < *peace
    {
        return Ok(false);
    }
    let options = Options::read(conn)?;
    let site_name = options.text("blogname");
    let fill = |text: &str| {
        text.replace("{site_title}", &site_name)
            .replace("{order_number}", about.number)
            .replace("{customer_name}", about.name)
    };
    let paragraphs: Vec<String> = email.text.split("\n\n").map(fill).collect();
    let sender_name = email.sender_with.as_deref().map(|setting| plugin.setting(setting));
    let sender_name = sender_name.as_ref().and_then(Value::as_str);
    let home = site.address_for_emails(&options);
    let subject = fill(&email.subject);
    let message = Email { to: about.to, subject: &subject, paragraphs: &paragraphs, link: None };
    let sender = Sender { site_name: &site_name, home: &home };
    let presentation = Presentation { from_name: sender_name, ..Presentation::default() };
    mail::enqueue_presented(site, conn, sender, &message, presentation, now)?;
    plugin_email::insert(conn, key, &hash, now)?;
    Ok(true)
}
