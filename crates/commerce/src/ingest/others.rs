//! Records that are no orders: they are made by the operations of the interface, one by one, so
//! that there is one place that knows what such a record must be.

use std::collections::HashMap;

use contract::rest::check::ParamError as FieldError;
use contract::rest::params::invalid_params;
use contract::rest::{Refusal, Verb, clean, loose};
use db::Conn;
use frame::Site;
use frame::text::slugify;
use serde_json::{Map, Value};
use shop_rows::{attribute, coupon, import, order_note, product, review, tax_class, tax_rate};
use site_rows::{post, term, user};
use types::Result;

use super::{Batch, RecordKind, errors};
use crate::taxonomies::{CATEGORY, SHIPPING_CLASS, TAG};

type Body = Map<String, Value>;

/// Checks the fields as those of a request are. Null is the same as nothing.
pub(super) fn check(
    site: &Site,
    kind: RecordKind,
    mut body: Body,
) -> std::result::Result<Body, Refusal> {
    body.retain(|_, value| !value.is_null());
    // Shops show an address that nobody gave as an empty one, and do not take it back.
    if let Some(Value::Object(billing)) = body.get_mut("billing") {
        billing.retain(|name, value| name != "email" || value.as_str() != Some(""));
    }
    let parent_id = match kind.parent(&body) {
        Some((_, 0)) => {
            let field = kind.parent_fields().and_then(<[&str]>::first).copied().unwrap_or_default();
            let message = format!("{field} must be the ID of the parent record.");
            let error = FieldError::new("rest_invalid_param", message);
            return Err(invalid_params(vec![(field.to_owned(), Some(error))]));
        }
        Some((_, parent_id)) => parent_id,
        None => 0,
    };
    let path = kind.path(&site.settings().names.commerce_v3, parent_id);
    match site.check_import(Verb::Post, &path, body.clone()) {
        Some(refusal) => Err(refusal),
        None => Ok(body),
    }
}

impl Batch<'_> {
    /// Makes the record, unless it is there already. One that is refused leaves no trace.
    pub(super) fn write_other(
        &mut self,
        conn: &mut dyn Conn,
        line: u64,
        kind: RecordKind,
        body: &Body,
    ) -> Result<()> {
        let mut body = body.clone();
        let parent_id = match kind.parent(&body) {
            Some((above, id)) => self.own_id(conn, above, id)?,
            None => 0,
        };
        // A field of that name would beat the number in the path.
        body.retain(|name, _| kind.parent_fields().is_none_or(|own| !own.contains(&&**name)));
        self.resolve(conn, kind, &mut body)?;
        if kind == RecordKind::Variation {
            // One without a SKU of its own is shown with that of its product.
            let above = product::get(conn, parent_id)?.map(|row| Value::from(row.sku));
            body.retain(|name, value| name != "sku" || above.as_ref() != Some(value));
        }
        let foreign_id = body.get("id").map(loose::to_int).unwrap_or_default().max(0);
        if let Some(known) = self.known_id(conn, kind, foreign_id, parent_id, &body)? {
            return self.write_known(conn, (line, kind), (foreign_id, known, parent_id), body);
        }
        if foreign_id == 0 || is_taken(conn, kind, foreign_id)? {
            body.remove("id");
        }
        let path = kind.path(&self.site.settings().names.commerce_v3, parent_id);
        if let Some(made) = self.perform(conn, line, Verb::Post, &path, &body)? {
            let own_id = made.get("id").map(loose::to_int).unwrap_or_default();
            self.remember(conn, kind, foreign_id, own_id)?;
            self.wrote(kind, 1);
        }
        Ok(())
    }

    /// Replaces the record that is there, if that is wanted.
    fn write_known(
        &mut self,
        conn: &mut dyn Conn,
        (line, kind): (u64, RecordKind),
        (foreign_id, own_id, parent_id): (i64, i64, i64),
        mut body: Body,
    ) -> Result<()> {
        self.remember(conn, kind, foreign_id, own_id)?;
        let can_change = !matches!(kind, RecordKind::TaxClass | RecordKind::OrderNote);
        if !self.manner.replace || !can_change {
            self.outcome.present += 1;
            return Ok(());
        }
        for name in ["id", "username"] {
            body.remove(name);
        }
        let path = kind.path(&self.site.settings().names.commerce_v3, parent_id);
        let path = format!("{path}/{own_id}");
        if self.perform(conn, line, Verb::Put, &path, &body)?.is_some() {
            self.wrote(kind, 1);
        }
        Ok(())
    }

    fn perform(
        &mut self,
        conn: &mut dyn Conn,
        line: u64,
        verb: Verb,
        path: &str,
        body: &Body,
    ) -> Result<Option<Value>> {
        let (site, visit) = (self.site, self.visit);
        let mut answered = None;
        conn.nested(&mut |conn| {
            let outcome = site.import(conn, visit, verb, (path, body.clone()))?;
            let is_fine = outcome.is_ok();
            answered = Some(outcome);
            Ok(is_fine)
        })?;
        match answered {
            Some(Ok(made)) => Ok(Some(made)),
            Some(Err(refusal)) => {
                self.outcome.errors.extend(errors(line, &refusal));
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn remember(
        &self,
        conn: &mut dyn Conn,
        kind: RecordKind,
        foreign_id: i64,
        own_id: i64,
    ) -> Result<()> {
        if foreign_id == 0 || foreign_id == own_id || own_id == 0 {
            return Ok(());
        }
        import::remember_ids(conn, self.space(kind), &[(foreign_id, own_id)])
    }

    /// The number here of a record that was imported.
    fn own_id(&self, conn: &mut dyn Conn, kind: RecordKind, foreign_id: i64) -> Result<i64> {
        let found = import::own_ids(conn, self.space(kind), &[foreign_id])?;
        Ok(found.get(&foreign_id).copied().unwrap_or(foreign_id))
    }

    /// Lets the body refer to records by their numbers here.
    fn resolve(&self, conn: &mut dyn Conn, kind: RecordKind, body: &mut Body) -> Result<()> {
        let mut wanted: HashMap<RecordKind, Vec<i64>> = HashMap::new();
        kind.each_reference(body, &mut |kind, value| {
            let id = loose::to_int(value);
            if id > 0 {
                wanted.entry(kind).or_default().push(id);
            }
        });
        let mut known = HashMap::new();
        for (kind, ids) in wanted {
            known.insert(kind, import::own_ids(conn, self.space(kind), &ids)?);
        }
        kind.each_reference(body, &mut |kind, value| {
            let own = known.get(&kind).and_then(|ids| ids.get(&loose::to_int(value)));
            if let Some(own) = own {
                *value = Value::from(*own);
            }
        });
        Ok(())
    }

    /// The number of the record if it is here already: by what it was remembered as, or by what
    /// only one record of the kind can have.
    fn known_id(
        &self,
        conn: &mut dyn Conn,
        kind: RecordKind,
        foreign_id: i64,
        parent_id: i64,
        body: &Body,
    ) -> Result<Option<i64>> {
        if self.manner.same_ids && foreign_id != 0 && kind != RecordKind::TaxClass {
            return Ok(is_taken(conn, kind, foreign_id)?.then_some(foreign_id));
        }
        if foreign_id != 0 {
            let own = import::own_ids(conn, self.space(kind), &[foreign_id])?;
            if let Some(own_id) = own.get(&foreign_id)
                && is_taken(conn, kind, *own_id)?
            {
                return Ok(Some(*own_id));
            }
        }
        let text = |name: &str| body.get(name).and_then(loose::scalar_text).unwrap_or_default();
        let slug = || match slugify(&text("slug")) {
            slug if slug.is_empty() => slugify(&text("name")),
            slug => slug,
        };
        let of_term = |conn: &mut dyn Conn, taxonomy: &str| -> Result<Option<i64>> {
            Ok(term::find_by_slug(conn, taxonomy, &slug())?.map(|term| term.term_id))
        };
        Ok(match kind {
            RecordKind::Category => of_term(conn, CATEGORY)?,
            RecordKind::Tag => of_term(conn, TAG)?,
            RecordKind::ShippingClass => of_term(conn, SHIPPING_CLASS)?,
            RecordKind::AttributeTerm => match attribute::get(conn, parent_id)? {
                Some(above) => of_term(conn, &attribute::taxonomy(&above.name))?,
                None => None,
            },
            RecordKind::Attribute => {
                let slug = slug();
                let name = slug.strip_prefix("pa_").unwrap_or(&slug);
                attribute::find_by_name(conn, name)?.map(|row| row.attribute_id)
            }
            RecordKind::TaxClass => {
                // A class has no number; any will do.
                let found = slug() == "standard" || tax_class::get(conn, &slug())?.is_some();
                found.then_some(0)
            }
            RecordKind::TaxRate => same_rate(conn, foreign_id, body)?,
            RecordKind::Product | RecordKind::Variation => same_product(conn, foreign_id, body)?,
            RecordKind::Customer => {
                user::find_by_email(conn, &text("email"))?.map(|user| user.user_id)
            }
            RecordKind::Coupon => {
                let code = clean::code(&text("code"));
                coupon::find_by_code(conn, &code)?.map(|row| row.coupon_id)
            }
            RecordKind::Review => {
                let row = review::get(conn, foreign_id)?;
                let email = text("reviewer_email");
                row.filter(|row| row.email == *email).map(|row| row.review_id)
            }
            RecordKind::OrderNote => {
                let row = order_note::get(conn, foreign_id)?;
                row.filter(|row| row.order_id == parent_id).map(|row| row.note_id)
            }
            RecordKind::Order | RecordKind::Refund => None,
        })
    }
}

/// A product is the same if its SKU is; without one, if its number and its address are.
fn same_product(conn: &mut dyn Conn, foreign_id: i64, body: &Body) -> Result<Option<i64>> {
    let text = |name: &str| body.get(name).and_then(loose::scalar_text).unwrap_or_default();
    let sku = clean::text_field(&text("sku"));
    let found = product::get(conn, foreign_id)?;
    if !sku.is_empty() {
        // A variation that has no SKU of its own is shown with that of its product.
        let own = found.filter(|row| row.sku == sku || row.kind == "variation");
        return Ok(match own {
            Some(row) => Some(row.product_id),
            None => product::id_of_sku(conn, &sku, 0)?,
        });
    }
    let slug = slugify(&text("slug"));
    let is_same = |row: &product::ProductRow| {
        slug.is_empty() || row.slug == slug || row.slug.starts_with(&format!("{slug}-"))
    };
    Ok(found.filter(is_same).map(|row| row.product_id))
}

fn same_rate(conn: &mut dyn Conn, foreign_id: i64, body: &Body) -> Result<Option<i64>> {
    let text = |name: &str| body.get(name).and_then(loose::scalar_text).unwrap_or_default();
    let found = tax_rate::get(conn, foreign_id)?;
    let class = text("class");
    let class = if class == "standard" { "" } else { &*class };
    let same = found.filter(|row| {
        row.country.eq_ignore_ascii_case(&text("country"))
            && row.state.eq_ignore_ascii_case(&text("state"))
            && row.class == class
    });
    Ok(same.map(|row| row.rate_id))
}

/// Whether something has the number already that a record of the kind would have.
fn is_taken(conn: &mut dyn Conn, kind: RecordKind, id: i64) -> Result<bool> {
    Ok(match kind {
        RecordKind::Category
        | RecordKind::Tag
        | RecordKind::ShippingClass
        | RecordKind::AttributeTerm => term::get(conn, id)?.is_some(),
        RecordKind::Attribute => attribute::get(conn, id)?.is_some(),
        RecordKind::TaxClass => false,
        RecordKind::TaxRate => tax_rate::get(conn, id)?.is_some(),
        RecordKind::Customer => user::get(conn, id)?.is_some(),
        RecordKind::Review => review::get(conn, id)?.is_some(),
        RecordKind::OrderNote => order_note::get(conn, id)?.is_some(),
        RecordKind::Product
        | RecordKind::Variation
        | RecordKind::Coupon
        | RecordKind::Order
        | RecordKind::Refund => post::taken_ids(conn, &[id])?.contains(&id),
    })
}
