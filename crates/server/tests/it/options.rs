//! The options of all crates that stand on the site, seen together.

use std::collections::HashSet;

#[test]
fn every_option_belongs_to_one_crate() {
    frame::options::declare(server::OPTIONS);
    let mut seen = HashSet::new();
    for option in server::OPTIONS.iter().copied().flatten() {
        assert!(seen.insert(option.name), "{} is declared twice", option.name);
        let known = frame::options::definition(option.name).unwrap();
        assert_eq!(known.default, option.default, "{} is the site's, too", option.name);
    }
    let settings: Vec<&str> =
        frame::options::settings(server::OPTIONS).map(|(_, setting)| setting.name).collect();
    assert_eq!(settings.len(), 26, "{settings:?}");
    assert_eq!((settings[0], settings[25]), ("title", "woocommerce_checkout_address_2_field"));
}

#[test]
fn what_administration_shows_is_an_option() {
    frame::options::declare(server::OPTIONS);
    for name in admin::option_names() {
        assert!(frame::options::definition(name).is_some(), "{name}");
    }
}
