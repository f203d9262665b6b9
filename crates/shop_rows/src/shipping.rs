//! Where the shop ships to, and how: zones, the places of a zone, and its methods. The zone 0, the
//! rest of the world, is no row; it has methods but no places.

use db::{Conn, Record, Row, SITE, counter, statements};
use types::Result;

const ZONE_ID: &str = "shipping_zone.id";
const INSTANCE_ID: &str = "shipping_method.id";

db::record! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ZoneRow in "shipping_zones", fixed(site_id = SITE), key(zone_id: i64) {
        name: String,
        position: i64,
    }
}

/// A place of a zone, such as the kind `country` with the code `DE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationRow {
    pub kind: String,
    pub code: String,
}

db::record! {
    /// A method as one zone has it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MethodRow in "shipping_zone_methods", fixed(site_id = SITE), key(instance_id: i64) {
        zone_id: i64,
        /// Such as `flat_rate`.
        method_id: String,
        position: i64,
        enabled: bool,
        /// A JSON object.
        settings: String,
    }
}

statements! {
    ZONE_INSERT = db::insert!(ZoneRow);
    ZONE_UPDATE = db::update!(ZoneRow);
    ZONE_DELETE = "DELETE FROM shipping_zones WHERE site_id = $1 AND zone_id = $2";
    ZONE_GET = db::select!(ZoneRow, "WHERE site_id = $1 AND zone_id = $2");
    ZONE_LIST = db::select!(ZoneRow, "WHERE site_id = $1 ORDER BY position, zone_id");
    LOCATION_INSERT =
        "INSERT INTO shipping_zone_locations (site_id, zone_id, position, kind, code)
         VALUES ($1, $2, $3, $4, $5)";
    LOCATIONS_DELETE = "DELETE FROM shipping_zone_locations WHERE site_id = $1 AND zone_id = $2";
    LOCATIONS_OF_ZONE =
        "SELECT kind, code FROM shipping_zone_locations WHERE site_id = $1 AND zone_id = $2
         ORDER BY position";
    METHOD_INSERT = db::insert!(MethodRow);
    METHOD_UPDATE = db::update!(MethodRow);
    METHOD_DELETE = "DELETE FROM shipping_zone_methods WHERE site_id = $1 AND instance_id = $2";
    METHODS_DELETE_OF_ZONE =
        "DELETE FROM shipping_zone_methods WHERE site_id = $1 AND zone_id = $2";
    METHOD_GET = db::select!(MethodRow, "WHERE site_id = $1 AND instance_id = $2");
    METHODS_OF_ZONE = db::select!(
        MethodRow,
        "WHERE site_id = $1 AND zone_id = $2 ORDER BY position, instance_id"
    );
}

/// Inserts the zone with the next id, whatever `zone_id` says, and returns that id.
pub fn zone_insert(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<i64> {
    conn.insert_next(&ZONE_INSERT, zone, ZONE_ID)
}

/// Inserts the zone with the id that it comes with, and sees to it that the id is not given again.
pub fn zone_insert_with_id(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<()> {
    counter::raise(conn, ZONE_ID, zone.zone_id)?;
    conn.insert(&ZONE_INSERT, zone).map(drop)
}

/// Returns whether there is such a zone.
pub fn zone_update(conn: &mut dyn Conn, zone: &ZoneRow) -> Result<bool> {
    conn.update_existing(&ZONE_UPDATE, zone)
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
    conn.insert_next(&METHOD_INSERT, method, INSTANCE_ID)
}

/// Inserts the method with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn method_insert_with_id(conn: &mut dyn Conn, method: &MethodRow) -> Result<()> {
    counter::raise(conn, INSTANCE_ID, method.instance_id)?;
    conn.insert(&METHOD_INSERT, method).map(drop)
}

/// Returns whether there is such a method.
pub fn method_update(conn: &mut dyn Conn, method: &MethodRow) -> Result<bool> {
    conn.update_existing(&METHOD_UPDATE, method)
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
