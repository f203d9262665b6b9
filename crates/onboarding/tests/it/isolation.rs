//! On PostgreSQL an onboarding that only adds rows gets in nobody's way; one that looks something
//! up is serialisable, so that what it saw still holds when it is stored.

use crate::bodies::body;
use crate::support::House;

const NOTE_ISOLATIONS: &str = "
    CREATE TABLE isolations (place bigserial, isolation text);
    CREATE FUNCTION note_isolation() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
        INSERT INTO isolations (isolation) VALUES (current_setting('transaction_isolation'));
        RETURN NULL;
    END $$;
    CREATE TRIGGER noted AFTER INSERT ON tpns
    FOR EACH ROW EXECUTE FUNCTION note_isolation()";

#[test]
fn only_what_looks_something_up_is_serialisable() {
    let house = House::on_postgres();
    house.platform.store.write_blocking(|conn| conn.script(NOTE_ISOLATIONS)).unwrap();
    house.onboard(body("full-tsys")).unwrap();
    // Its merchant and store are onboarded before it.
    house.onboard(house.staged_body("tpn-only-cknx")).unwrap();
    let noted = house.platform.store.read_blocking(|conn| {
        let mut noted: Vec<String> = Vec::new();
        let text = "SELECT isolation FROM isolations ORDER BY place";
        conn.query_text(text, &[], &mut |row| {
            noted.push(row.get(0)?);
            Ok(())
        })?;
        Ok(noted)
    });
    assert_eq!(noted.unwrap(), ["read committed", "read committed", "serializable"]);
}
