//! What makes variations of one product differ from each other.

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page, fold};
use db::{Conn, Row, SITE, statements};
use types::{Error, Result};

/// An attribute of a variation, such as `pa_colour` and `red`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariationAttribute {
    /// The taxonomy, or the name of an attribute that is the product's own.
    pub name: String,
    /// The slug of a term or the text itself; empty stands for any.
    pub value: String,
}

impl VariationAttribute {
    /// The form in which a pair is found.
    pub(super) fn pair_key(name: &str, value: &str) -> String {
        format!("{}={}", fold(name), fold(value))
    }

    fn read(row: &dyn Row) -> Result<(i64, Self)> {
        Ok((row.get(0)?, Self { name: row.get(1)?, value: row.get(2)? }))
    }
}

/// Gives the attribute another name in all variations that have it, and returns how many have.
pub fn rename_attribute(conn: &mut dyn Conn, from: &str, to: &str) -> Result<u64> {
    let pair_start = VariationAttribute::pair_key(to, "");
    let params = [to.into(), (&pair_start).into(), SITE.into(), from.into()];
    conn.execute(&VARIATION_ATTRIBUTES_RENAME, &params)
}

statements! {
    VARIATION_ATTRIBUTES_CLEAR =
        "DELETE FROM variation_attributes WHERE site_id = $1 AND product_id = $2";
    VARIATION_ATTRIBUTE_INSERT =
        "INSERT INTO variation_attributes
           (site_id, product_id, position, name, value, value_key, pair_key)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    VARIATION_ATTRIBUTES_RENAME =
        "UPDATE variation_attributes SET name = $1, pair_key = $2 || value_key
         WHERE site_id = $3 AND name = $4";
    VARIATION_VALUES_RENAME =
        "UPDATE variation_attributes SET value = $1, value_key = $2, pair_key = $3
         WHERE site_id = $4 AND name = $5 AND value = $6";
    VARIATION_VALUES =
        "SELECT value, COUNT(*) FROM variation_attributes
         WHERE site_id = $1 AND name = $2 AND value <> '' GROUP BY value ORDER BY value";
}

/// Gives a value of the attribute another name in all variations that have it, and returns how many
/// have.
pub fn rename_value(conn: &mut dyn Conn, name: &str, from: &str, to: &str) -> Result<u64> {
    let (value_key, pair_key) = (fold(to), VariationAttribute::pair_key(name, to));
    let params =
        [to.into(), (&value_key).into(), (&pair_key).into(), SITE.into(), name.into(), from.into()];
    conn.execute(&VARIATION_VALUES_RENAME, &params)
}

/// The values that variations have of an attribute, and how many have each; by value.
pub fn values_of(conn: &mut dyn Conn, name: &str) -> Result<Vec<(String, i64)>> {
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
    let mut values = conn.rows(&VARIATION_VALUES, &[SITE.into(), name.into()], read)?;
    // The engines do not sort texts alike.
    values.sort();
    Ok(values)
}

/// Gives the variation these attributes and no others.
pub fn set_attributes(
    conn: &mut dyn Conn,
    product_id: i64,
    attributes: &[VariationAttribute],
) -> Result<()> {
    conn.execute(&VARIATION_ATTRIBUTES_CLEAR, &[SITE.into(), product_id.into()])?;
    for (position, VariationAttribute { name, value }) in (0_i64..).zip(attributes) {
        let (value_key, pair_key) = (fold(value), VariationAttribute::pair_key(name, value));
        let params = [
            SITE.into(),
            product_id.into(),
            position.into(),
            name.into(),
            value.into(),
            (&value_key).into(),
            (&pair_key).into(),
        ];
        conn.execute_one(&VARIATION_ATTRIBUTE_INSERT, &params)?;
    }
    Ok(())
}

/// The attributes of these variations, each with the id of its variation, as they were given.
pub fn attributes_of(
    conn: &mut dyn Conn,
    product_ids: &[i64],
) -> Result<Vec<(i64, VariationAttribute)>> {
    if product_ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("product_id IN (?)", product_ids)?;
    let keys = ["product_id", "position"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let what = ("product_id, name, value", "variation_attributes");
    let (rows, total) =
        filter.page(conn, what, order, Page::default(), VariationAttribute::read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("too many attributes; ask for fewer variations"));
    }
    Ok(rows)
}
