//! Which manufacturer makes which device, with the spellings of both published lists.

/// A manufacturer under all its published names; the first one is stored.
struct Manufacturer {
    names: &'static [&'static str],
    models: &'static [&'static str],
}

/// The one model whose spelling varies in letter case.
const TAP_ON_PHONE: &str = "Tap on phone";

const MANUFACTURERS: &[Manufacturer] = &[
    Manufacturer { names: &["Cloud POS"], models: &["Cloud POS"] },
    Manufacturer { names: &["Android Phone"], models: &[TAP_ON_PHONE] },
    Manufacturer {
        names: &["WizardPOS", "Wizer POS"],
        models: &["Q2", "QD2", "QD3", "QD4", "QD5", "QD6"],
    },
    Manufacturer { names: &["Kozen"], models: &["P1", "P3", "P5", "P8", "P12"] },
    Manufacturer { names: &["Apple"], models: &["Apple Pay"] },
];

/// The stored spelling of a manufacturer's name.
pub(crate) fn canonical_manufacturer(name: &str) -> Option<&'static str> {
    let manufacturer = MANUFACTURERS.iter().find(|maker| maker.names.contains(&name))?;
    manufacturer.names.first().copied()
}

/// The stored spelling of a model.
pub(crate) fn canonical_model(name: &str) -> Option<&'static str> {
    let equal = |model: &&str| {
        *model == name || (*model == TAP_ON_PHONE && name.eq_ignore_ascii_case(TAP_ON_PHONE))
    };
    MANUFACTURERS.iter().flat_map(|maker| maker.models).copied().find(equal)
}

/// Whether the manufacturer makes the model; both in their stored spelling.
pub(crate) fn is_made_by(model: &str, manufacturer: &str) -> bool {
    MANUFACTURERS
        .iter()
        .any(|maker| maker.names.contains(&manufacturer) && maker.models.contains(&model))
}

/// Every manufacturer: its names, of which the first is stored, and its models.
pub(crate) fn makers() -> impl Iterator<Item = (&'static [&'static str], &'static [&'static str])> {
    MANUFACTURERS.iter().map(|maker| (maker.names, maker.models))
}

/// All published names of manufacturers.
pub(crate) fn manufacturer_names() -> Vec<&'static str> {
    MANUFACTURERS.iter().flat_map(|maker| maker.names).copied().collect()
}

/// All published models.
pub(crate) fn model_names() -> Vec<&'static str> {
    MANUFACTURERS.iter().flat_map(|maker| maker.models).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_exactly_one_maker() {
        for model in model_names() {
            let makers = MANUFACTURERS.iter().filter(|maker| maker.models.contains(&model));
            assert_eq!(makers.count(), 1, "{model}");
        }
    }

    #[test]
    fn spellings() {
        assert_eq!(canonical_manufacturer("Wizer POS"), Some("WizardPOS"));
        assert_eq!(canonical_manufacturer("wizardpos"), None);
        assert_eq!(canonical_model("TAP ON PHONE"), Some("Tap on phone"));
        assert_eq!(canonical_model("cloud pos"), None);
        assert!(is_made_by("QD2", "WizardPOS") && !is_made_by("QD2", "Kozen"));
    }
}
