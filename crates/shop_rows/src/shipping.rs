//! Where the shop ships to, and how: zones, the places of a zone, and its methods. The zone 0, the
//! rest of the world, is no row; it has methods but no places.

use db::{Conn, Row, SITE, Sql, counter, statements};
use types::Result;

const ZONE_ID: &str = "shipping_zone.id";
const INSTANCE_ID: &str = "shipping_method.id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneRow {
    pub zone_id: i64,
    pub name: String,
    pub position: i64,
}

/// A place of a zone, such as the kind `country` with the code `DE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationRow {
    pub kind: String,
    pub code: String,
}

/// A method as one zone has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodRow {
    pub instance_id: i64,
    pub zone_id: i64,
    /// Such as `flat_rate`.
    pub method_id: String,
    pub position: i64,
    pub enabled: bool,
    /// A JSON object.
    pub settings: String,
}

/// What [`MethodRow::read`] reads, in its order.
macro_rules! method_columns {
    () => {
        "instance_id, zone_id, method_id, position, enabled, settings"
    };
}

statements! {
    ZONE_INSERT =
        "INSERT INTO shipping_zones (name, position, site_id, zone_id) VALUES ($1, $2, $3, $4)";
    ZONE_UPDATE =
        "UPDATE shipping_zones SET name = $1, position = $2 WHERE site_id = $3 AND zone_id = $4";
    ZONE_DELETE = "DELETE FROM shipping_zones WHERE site_id = $1 AND zone_id = $2";
    ZONE_GET =
        "SELECT zone_id, name, position FROM shipping_zones WHERE site_id = $1 AND zone_id = $2";
    ZONE_LIST =
        "SELECT zone_id, name, position FROM shipping_zones WHERE site_id = $1
         ORDER BY position, zone_id";
    LOCATION_INSERT =
        "INSERT INTO shipping_zone_locations (site_id, zone_id, position, kind, code)
         VALUES ($1, $2, $3, $4, $5)";
    LOCATIONS_DELETE = "DELETE FROM shipping_zone_locations WHERE site_id = $1 AND zone_id = $2";
    LOCATIONS_OF_ZONE =
        "SELECT kind, code FROM shipping_zone_locations WHERE site_id = $1 AND zone_id = $2
         ORDER BY position";
    METHOD_INSERT =
        "INSERT INTO shipping_zone_methods
           (zone_id, method_id, position, enabled, settings, site_id, instance_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    METHOD_UPDATE =
        "UPDATE shipping_zone_methods SET
           zone_id = $1, method_id = $2, position = $3, enabled = $4, settings = $5
         WHERE site_id = $6 AND instance_id = $7";
    METHOD_DELETE = "DELETE FROM shipping_zone_methods WHERE site_id = $1 AND instance_id = $2";
    METHODS_DELETE_OF_ZONE =
        "DELETE FROM shipping_zone_methods WHERE site_id = $1 AND zone_id = $2";
    METHOD_GET = concat!(
        "SELECT ",
        method_columns!(),
        " FROM shipping_zone_methods WHERE site_id = $1 AND instance_id = $2"
    );
    METHODS_OF_ZONE = concat!(
        "SELECT ",
        method_columns!(),
        " FROM shipping_zone_methods WHERE site_id = $1 AND zone_id = $2
          ORDER BY position, instance_id"
    );
}

/// Inserts the zone with the next id, whatever `zone_id` says, and returns that id.
pub fn zone_insert(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<i64> {
    let zone_id = counter::take(conn, ZONE_ID, 1)? + 1;
    zone_write(conn, &ZONE_INSERT, zone, zone_id)?;
    Ok(zone_id)
}

/// Inserts the zone with the id that it comes with, and sees to it that the id is not given again.
pub fn zone_insert_with_id(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<()> {
    counter::raise(conn, ZONE_ID, zone.zone_id)?;
    zone_write(conn, &ZONE_INSERT, zone, zone.zone_id).map(drop)
}

/// Returns whether there is such a zone.
pub fn zone_update(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<bool> {
    zone_write(conn, &ZONE_UPDATE, zone, zone.zone_id)
}

/// Deletes the zone with its places and methods. Returns whether there was one.
pub fn zone_delete(conn: &mut dyn Conn, zone_id: i64) -> Result<bool> {
    let params = [SITE.into(), zone_id.into()];
    let deleted = conn.execute(&ZONE_DELETE, &params)? == 1;
    if deleted {
        conn.execute(&METHODS_DELETE_OF_ZONE, &params)?;
    }
    Ok(deleted)
}

pub fn zone_get(conn: &mut dyn Conn, zone_id: i64) -> Result<Option<ZoneRow>> {
    conn.row(&ZONE_GET, &[SITE.into(), zone_id.into()], ZoneRow::read)
}

/// All zones by their positions.
pub fn zone_list(conn: &mut dyn Conn) -> Result<Vec<ZoneRow>> {
    conn.rows(&ZONE_LIST, &[SITE.into()], ZoneRow::read)
}

/// Lets the zone have these places and no others. A conflict when there is no such zone.
pub fn locations_set(conn: &mut dyn Conn, zone_id: i64, locations: &[LocationRow]) -> Result<()> {
    conn.execute(&LOCATIONS_DELETE, &[SITE.into(), zone_id.into()])?;
    for (position, location) in (0_i64..).zip(locations) {
        let (kind, code) = ((&location.kind).into(), (&location.code).into());
        let params = [SITE.into(), zone_id.into(), position.into(), kind, code];
        conn.execute_one(&LOCATION_INSERT, &params)?;
    }
    Ok(())
}

/// The places of a zone, as they were set.
pub fn locations_of(conn: &mut dyn Conn, zone_id: i64) -> Result<Vec<LocationRow>> {
    let read = |row: &dyn Row| Ok(LocationRow { kind: row.get(0)?, code: row.get(1)? });
    conn.rows(&LOCATIONS_OF_ZONE, &[SITE.into(), zone_id.into()], read)
}

/// Inserts the method with the next id, whatever `instance_id` says, and returns that id.
pub fn method_insert(conn: &mut dyn Conn, method: &MethodRow) -> Result<i64> {
    let instance_id = counter::take(conn, INSTANCE_ID, 1)? + 1;
    method_write(conn, &METHOD_INSERT, method, instance_id)?;
    Ok(instance_id)
}

/// Inserts the method with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn method_insert_with_id(conn: &mut dyn Conn, method: &MethodRow) -> Result<()> {
    counter::raise(conn, INSTANCE_ID, method.instance_id)?;
    method_write(conn, &METHOD_INSERT, method, method.instance_id).map(drop)
}

/// Returns whether there is such a method.
pub fn method_update(conn: &mut dyn Conn, method: &MethodRow) -> Result<bool> {
    method_write(conn, &METHOD_UPDATE, method, method.instance_id)
}

/// Returns whether there was such a method.
pub fn method_delete(conn: &mut dyn Conn, instance_id: i64) -> Result<bool> {
    Ok(conn.execute(&METHOD_DELETE, &[SITE.into(), instance_id.into()])? == 1)
}

pub fn method_get(conn: &mut dyn Conn, instance_id: i64) -> Result<Option<MethodRow>> {
    conn.row(&METHOD_GET, &[SITE.into(), instance_id.into()], MethodRow::read)
}

/// The methods of a zone by their positions.
pub fn methods_of(conn: &mut dyn Conn, zone_id: i64) -> Result<Vec<MethodRow>> {
    conn.rows(&METHODS_OF_ZONE, &[SITE.into(), zone_id.into()], MethodRow::read)
}

fn zone_write(conn: &mut dyn Conn, sql: &Sql, zone: &ZoneRow, zone_id: i64) -> Result<bool> {
    let params = [(&zone.name).into(), zone.position.into(), SITE.into(), zone_id.into()];
    Ok(conn.execute(sql, &params)? == 1)
}

fn method_write(
    conn: &mut dyn Conn,
    sql: &Sql,
    method: &MethodRow,
    instance_id: i64,
) -> Result<bool> {
    let params = [
        method.zone_id.into(),
        (&method.method_id).into(),
        method.position.into(),
        method.enabled.into(),
        (&method.settings).into(),
        SITE.into(),
        instance_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}

impl ZoneRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self { zone_id: row.get(0)?, name: row.get(1)?, position: row.get(2)? })
    }
}

impl MethodRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            instance_id: row.get(0)?,
            zone_id: row.get(1)?,
            method_id: row.get(2)?,
            position: row.get(3)?,
            enabled: row.get(4)?,
            settings: row.get(5)?,
        })
    }
}
