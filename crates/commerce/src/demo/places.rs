//! Where the demo's customers live, what is taxed there, and what sending goods there costs.
//!
//! Cities, states and the beginnings of postcodes are real, so that addresses look right; streets
//! are invented, and telephone numbers are from ranges that are kept for fiction where a country
//! has one.

/// A country that the shop sells to.
#[derive(Debug)]
pub(super) struct Country {
    pub(super) code: &'static str,
    /// How many of a thousand customers live there.
    pub(super) weight: u64,
    pub(super) cities: &'static [City],
    pub(super) phone: &'static str,
    /// Whether the number of a house comes before its street.
    pub(super) number_first: bool,
    pub(super) streets: &'static [&'static str],
    pub(super) first_names: &'static [&'static str],
    /// How many of a thousand pay by bank transfer.
    pub(super) by_transfer: u64,
    pub(super) zone: Zone,
}

/// A city with its state and the pattern of its postcodes.
#[derive(Debug)]
pub(super) struct City {
    pub(super) name: &'static str,
    pub(super) state: &'static str,
    pub(super) postcode: &'static str,
}

/// An area with its own prices of shipping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    Home,
    Canada,
    Europe,
    Elsewhere,
}

/// How a zone is served.
#[derive(Debug)]
pub(super) struct Tariff {
    pub(super) zone: Zone,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) cost_cents: i64,
    /// From which sum on shipping costs nothing.
    pub(super) free_from_cents: i64,
}

pub(super) const TARIFFS: [Tariff; 4] = [
    tariff(Zone::Home, "United States", "Standard parcel", 595, 7_500),
    tariff(Zone::Canada, "Canada", "Parcel to Canada", 1_190, 12_000),
    tariff(Zone::Europe, "Europe", "Parcel to Europe", 1_390, 15_000),
    tariff(Zone::Elsewhere, "Overseas", "Parcel overseas", 1_850, 20_000),
];

const fn tariff(
    zone: Zone,
    name: &'static str,
    title: &'static str,
    cost_cents: i64,
    free_from_cents: i64,
) -> Tariff {
    Tariff { zone, name, title, cost_cents, free_from_cents }
}

const fn city(name: &'static str, state: &'static str, postcode: &'static str) -> City {
    City { name, state, postcode }
}

const ENGLISH_STREETS: &[&str] = &[
    "Lantern Street",
    "Gull Lane",
    "Harbour View",
    "Sandpiper Road",
    "Old Mill Road",
    "Fern Hill",
    "Tideway",
    "Kite Street",
    "Marram Close",
    "Beacon Avenue",
    "Orchard Walk",
    "Pebble Row",
];

const ENGLISH_NAMES: &[&str] = &[
    "Ada", "Amir", "Beth", "Caleb", "Clara", "Dana", "Elliot", "Freya", "Grace", "Hugo", "Imani",
    "Isaac", "Jonah", "June", "Kira", "Leo", "Mabel", "Marcus", "Nadia", "Noel", "Olive", "Owen",
    "Priya", "Quinn", "Rosa", "Ruben", "Sana", "Tess", "Theo", "Uma", "Victor", "Wren", "Zoe",
];

pub(super) const COUNTRIES: &[Country] = &[
    Country {
        code: "US",
        weight: 560,
        cities: &[
            city("New York", "NY", "100##"),
            city("Brooklyn", "NY", "112##"),
            city("Atlantic City", "NJ", "0840#"),
            city("Newark", "NJ", "0710#"),
            city("Ocean City", "NJ", "08226"),
            city("Philadelphia", "PA", "191##"),
            city("Boston", "MA", "021##"),
            city("Chicago", "IL", "606##"),
            city("Austin", "TX", "787##"),
            city("Houston", "TX", "770##"),
            city("Miami", "FL", "331##"),
            city("Denver", "CO", "802##"),
            city("Seattle", "WA", "981##"),
            city("San Diego", "CA", "921##"),
            city("Los Angeles", "CA", "900##"),
            city("Portland", "OR", "972##"),
        ],
        phone: "(2##) 555-01##",
        number_first: true,
        streets: ENGLISH_STREETS,
        first_names: ENGLISH_NAMES,
        by_transfer: 30,
        zone: Zone::Home,
    },
    Country {
        code: "CA",
        weight: 90,
        cities: &[
            city("Toronto", "ON", "M5@ #@#"),
            city("Ottawa", "ON", "K1@ #@#"),
            city("Vancouver", "BC", "V6@ #@#"),
            city("Montreal", "QC", "H2@ #@#"),
            city("Calgary", "AB", "T2@ #@#"),
            city("Halifax", "NS", "B3@ #@#"),
        ],
        phone: "(4##) 555-01##",
        number_first: true,
        streets: ENGLISH_STREETS,
        first_names: ENGLISH_NAMES,
        by_transfer: 50,
        zone: Zone::Canada,
    },
    Country {
        code: "GB",
        weight: 110,
        cities: &[
            city("London", "", "SE1 #@@"),
            city("Brighton", "", "BN1 #@@"),
            city("Bristol", "", "BS1 #@@"),
            city("Leeds", "", "LS2 #@@"),
            city("Edinburgh", "", "EH1 #@@"),
            city("Cardiff", "", "CF10 #@@"),
        ],
        phone: "07700 900###",
        number_first: true,
        streets: ENGLISH_STREETS,
        first_names: ENGLISH_NAMES,
        by_transfer: 60,
        zone: Zone::Europe,
    },
    Country {
        code: "DE",
        weight: 90,
        cities: &[
            city("Berlin", "DE-BE", "10###"),
            city("Hamburg", "DE-HH", "20###"),
            city("München", "DE-BY", "80###"),
            city("Köln", "DE-NW", "50###"),
            city("Leipzig", "DE-SN", "04###"),
            city("Rostock", "DE-MV", "18###"),
        ],
        phone: "030 23125 ###",
        number_first: false,
        streets: &[
            "Möwenweg",
            "Dünenstraße",
            "Am Anleger",
            "Lindenallee",
            "Hafengasse",
            "Mühlsteig",
        ],
        first_names: &[
            "Anke", "Bernd", "Clara", "Dirk", "Elif", "Frieda", "Gregor", "Heike", "Ida", "Jonas",
            "Jürgen", "Karla", "Lukas", "Marit", "Nils", "Petra", "Sören", "Tilda", "Ute", "Yusuf",
        ],
        by_transfer: 350,
        zone: Zone::Europe,
    },
    Country {
        code: "FR",
        weight: 55,
        cities: &[
            city("Paris", "", "750##"),
            city("Lyon", "", "6900#"),
            city("Nantes", "", "440##"),
            city("Marseille", "", "1300#"),
            city("Lille", "", "590##"),
        ],
        phone: "06 39 98 ## ##",
        number_first: true,
        streets: &["rue des Phares", "quai du Large", "allée des Pins", "rue de la Jetée"],
        first_names: &[
            "Amélie", "Bastien", "Chloé", "Didier", "Élise", "Fabien", "Inès", "Jules", "Léa",
            "Maxime", "Noémie", "Olivier", "Salomé", "Thierry", "Yanis",
        ],
        by_transfer: 80,
        zone: Zone::Europe,
    },
    Country {
        code: "NL",
        weight: 35,
        cities: &[
            city("Amsterdam", "", "101# @@"),
            city("Utrecht", "", "351# @@"),
            city("Haarlem", "", "201# @@"),
            city("Groningen", "", "971# @@"),
        ],
        phone: "020 555 0###",
        number_first: false,
        streets: &["Duinpad", "Vuurtorenlaan", "Strandweg", "Meeuwenstraat"],
        first_names: &["Anouk", "Bram", "Daan", "Femke", "Jasper", "Lotte", "Maarten", "Sanne"],
        by_transfer: 300,
        zone: Zone::Europe,
    },
    Country {
        code: "AU",
        weight: 40,
        cities: &[
            city("Sydney", "NSW", "200#"),
            city("Melbourne", "VIC", "300#"),
            city("Brisbane", "QLD", "400#"),
            city("Perth", "WA", "600#"),
        ],
        phone: "0491 570 ###",
        number_first: true,
        streets: ENGLISH_STREETS,
        first_names: ENGLISH_NAMES,
        by_transfer: 60,
        zone: Zone::Elsewhere,
    },
    Country {
        code: "JP",
        weight: 20,
        cities: &[
            city("Shibuya-ku", "JP13", "150-00##"),
            city("Osaka", "JP27", "530-00##"),
            city("Sapporo", "JP01", "060-00##"),
        ],
        phone: "03-5550-0###",
        number_first: true,
        streets: &["Minatomachi", "Umibe", "Kazahaya", "Nagisa-dori"],
        first_names: &["Aiko", "Daichi", "Emi", "Haruto", "Kenji", "Mio", "Ren", "Sakura"],
        by_transfer: 100,
        zone: Zone::Elsewhere,
    },
];

/// A rate of tax.
#[derive(Debug)]
pub(super) struct Rate {
    pub(super) country: &'static str,
    pub(super) state: &'static str,
    pub(super) city: &'static str,
    pub(super) percent: &'static str,
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) priority: i64,
    pub(super) shipping: bool,
}

pub(super) const STANDARD: &str = "standard";
/// The class of food.
pub(super) const REDUCED: &str = "reduced-rate";

/// A rate of a whole country on all that is sold and sent.
const fn vat(country: &'static str, percent: &'static str, class: &'static str) -> Rate {
    let name = "VAT";
    let (state, city, priority, shipping) = ("", "", 1, true);
    Rate { country, state, city, percent, name, class, priority, shipping }
}

/// A rate of a state on what is sold there.
const fn sales_tax(state: &'static str, percent: &'static str) -> Rate {
    let rate = vat("US", percent, STANDARD);
    Rate { state, name: "Sales tax", shipping: false, ..rate }
}

const fn of_province(
    state: &'static str,
    percent: &'static str,
    name: &'static str,
    priority: i64,
) -> Rate {
    let rate = vat("CA", percent, STANDARD);
    Rate { state, name, priority, ..rate }
}

pub(super) const RATES: &[Rate] = &[
    sales_tax("NJ", "6.625"),
    sales_tax("NY", "4.0000"),
    Rate { city: "NEW YORK", priority: 2, name: "City tax", ..sales_tax("NY", "4.5000") },
    sales_tax("PA", "6.0000"),
    sales_tax("MA", "6.2500"),
    sales_tax("IL", "6.2500"),
    sales_tax("TX", "6.2500"),
    sales_tax("FL", "6.0000"),
    sales_tax("CO", "2.9000"),
    sales_tax("WA", "6.5000"),
    sales_tax("CA", "7.2500"),
    Rate { name: "GST", ..vat("CA", "5.0000", STANDARD) },
    of_province("ON", "13.0000", "HST", 1),
    of_province("NS", "14.0000", "HST", 1),
    of_province("BC", "7.0000", "PST", 2),
    of_province("QC", "9.9750", "QST", 2),
    vat("GB", "20.0000", STANDARD),
    vat("GB", "0.0000", REDUCED),
    vat("DE", "19.0000", STANDARD),
    vat("DE", "7.0000", REDUCED),
    vat("FR", "20.0000", STANDARD),
    vat("FR", "5.5000", REDUCED),
    vat("NL", "21.0000", STANDARD),
    vat("NL", "9.0000", REDUCED),
    Rate { name: "GST", ..vat("AU", "10.0000", STANDARD) },
    Rate { name: "Consumption tax", ..vat("JP", "10.0000", STANDARD) },
    Rate { name: "Consumption tax", ..vat("JP", "8.0000", REDUCED) },
];
