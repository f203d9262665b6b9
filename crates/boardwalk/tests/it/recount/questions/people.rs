//! Random questions about customers.

use super::super::clock::written;
use super::super::dice::Dice;
use super::super::query::Query;
use super::super::world::World;
use super::{ids, matching, range};

/// The filters of the lists, some of them.
pub(super) fn filters(world: &World, dice: &mut Dice, query: &mut Query) {
    if dice.one_in(3) {
        range(world, dice, 300, query);
    }
    person_filters(world, dice, query);
    let people: Vec<i64> = world.people.values().map(|person| person.id).collect();
    let chosen = if query.route == "customers" { "include" } else { "customers" };
    ids(dice, query, chosen, people.iter(), 8);
}

fn person_filters(world: &World, dice: &mut Dice, query: &mut Query) {
    if dice.one_in(5) {
        query.set("search", dice.pick(&["a", "berg1", "EN", "example", "finn"]));
        query.set("searchby", dice.pick(&["name", "username", "email", "all"]));
    }
    if dice.one_in(6) {
        let name = dice.pick(&["email_includes", "email_excludes"]);
        query.set(name, dice.pick(&["ada@example.com", "eve@example.com,finn@example.com"]));
    }
    if dice.one_in(6) {
        query
            .set(dice.pick(&["country_includes", "country_excludes"]), dice.pick(&["US", "DE,NZ"]));
    }
    if dice.one_in(6) {
        let name = dice.pick(&["location_includes", "location_excludes"]);
        query.set(name, dice.pick(&["US:CA", "NZ,US:NY", "DE"]));
    }
    if dice.one_in(5) {
        query.set("user_type", dice.pick(&["registered", "guest"]));
    }
    if dice.one_in(8) {
        query.set("filter_empty", dice.pick(&["state", "email,city", "name"]));
    }
    let users: Vec<i64> =
        world.people.values().map(|person| person.user).filter(|user| *user != 0).collect();
    ids(dice, query, "users", users.iter(), 8);
    if dice.one_in(6) {
        let (first, last) = world.span();
        let at = dice.between(first, last);
        let name = dice.pick(&["last_order_after", "last_order_before"]);
        query.set(name, format!("{}Z", written(at, 'T')));
    }
    bounds(dice, query);
    matching(dice, query);
}

/// Bounds that nobody's figures meet exactly, or both, which are included.
fn bounds(dice: &mut Dice, query: &mut Query) {
    if dice.one_in(6) {
        query.set("orders_count_between[0]", dice.between(0, 3));
        query.set("orders_count_between[1]", dice.between(2, 9));
    }
    for name in ["total_spend", "avg_order_value"] {
        let (least, most) = (dice.between(0, 90), dice.between(20, 900));
        match dice.below(14) {
            0 => query.set(&format!("{name}_min"), format!("{least}.00071")),
            1 => query.set(&format!("{name}_max"), format!("{most}.00071")),
            2 => {
                query.set(&format!("{name}_between[0]"), least);
                query.set(&format!("{name}_between[1]"), most);
            }
            _ => {}
        }
    }
}

/// A question about what customers do on average.
pub(super) fn averages(world: &World, dice: &mut Dice) -> Query {
    let mut query = Query::of("reports/customers/stats");
    person_filters(world, dice, &mut query);
    let people: Vec<i64> = world.people.values().map(|person| person.id).collect();
    ids(dice, &mut query, "customers", people.iter(), 6);
    query
}
