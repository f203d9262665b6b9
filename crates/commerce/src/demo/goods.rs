//! What the demo's shop sells: a table of articles, all invented.

/// When an article sells best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Season {
    Always,
    Summer,
    Winter,
}

/// What kind of product an article is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// With a variation for each size.
    Sizes,
    /// With a variation for each colour.
    Colours,
    /// With a variation for each size in each colour.
    SizesAndColours,
    /// A file to download.
    File,
    /// Nothing to send and nothing to download.
    Service,
}

/// An article.
#[derive(Clone, Copy, Debug)]
pub(super) struct Article {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) season: Season,
    pub(super) cents: i64,
    /// What it costs in a sale; 0 for no sale.
    pub(super) sale_cents: i64,
    /// How often it is bought.
    pub(super) weight: u64,
    /// How many there are; none where nobody counts.
    pub(super) stock: Option<i64>,
}

/// A category with the one above it, and its articles.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) name: &'static str,
    pub(super) above: &'static str,
    pub(super) tag: &'static str,
    /// Whether it is food, which many countries tax less.
    pub(super) is_food: bool,
    pub(super) articles: &'static [Article],
}

pub(super) const DEPARTMENTS: [&str; 5] = ["Clothing", "Home", "Outdoors", "Pantry", "Downloads"];
pub(super) const SIZES: [&str; 4] = ["S", "M", "L", "XL"];
pub(super) const COLOURS: [&str; 3] = ["Sand", "Deep blue", "Coral"];

/// A set of articles that are sold one by one.
pub(super) const SET: (&str, &[&str]) =
    ("Picnic by the pier", &["Striped picnic rug", "Enamel mug", "Salt caramel tin"]);
/// An article that somebody else sells.
pub(super) const ELSEWHERE: (&str, &str, i64) =
    ("Handmade rocking gull", "https://woodworks.example/rocking-gull", 18_900);

const fn article(name: &'static str, form: Form, cents: i64, weight: u64) -> Article {
    let stock = match form {
        Form::File | Form::Service => None,
        _ => Some(240),
    };
    Article { name, form, season: Season::Always, cents, sale_cents: 0, weight, stock }
}

const fn plain(name: &'static str, cents: i64, weight: u64) -> Article {
    article(name, Form::Plain, cents, weight)
}

impl Article {
    const fn sale(self, sale_cents: i64) -> Self {
        Self { sale_cents, ..self }
    }

    const fn few(self, count: i64) -> Self {
        Self { stock: Some(count), ..self }
    }

    const fn summer(self) -> Self {
        Self { season: Season::Summer, ..self }
    }

    const fn winter(self) -> Self {
        Self { season: Season::Winter, ..self }
    }
}

const fn shelf(
    name: &'static str,
    above: &'static str,
    tag: &'static str,
    articles: &'static [Article],
) -> Shelf {
    Shelf { name, above, tag, is_food: false, articles }
}

pub(super) const SHELVES: &[Shelf] = &[
    shelf(
        "Shirts",
        "Clothing",
        "cotton",
        &[
            article("Pier stripe tee", Form::SizesAndColours, 2_400, 95).summer(),
            article("Lighthouse tee", Form::Sizes, 2_200, 80).summer(),
            article("Sailcloth shirt", Form::SizesAndColours, 5_400, 38),
            article("Long-sleeved tide tee", Form::Sizes, 2_900, 45),
            article("Linen boat shirt", Form::Sizes, 6_200, 22).summer().sale(4_960),
        ],
    ),
    shelf(
        "Jumpers",
        "Clothing",
        "wool",
        &[
            article("Fisher's jumper", Form::SizesAndColours, 8_900, 34).winter(),
            article("Fog hoodie", Form::SizesAndColours, 5_900, 60).winter(),
            article("Cable cardigan", Form::Sizes, 9_800, 15).winter().sale(7_900),
            article("Half-zip fleece", Form::Sizes, 6_800, 28).winter(),
        ],
    ),
    shelf(
        "Hats and scarves",
        "Clothing",
        "wool",
        &[
            article("Watch cap", Form::Colours, 1_900, 72).winter(),
            article("Bucket hat", Form::Colours, 2_300, 40).summer(),
            article("Striped scarf", Form::Colours, 2_700, 44).winter(),
            plain("Sun visor", 1_500, 24).summer(),
            plain("Knitted mittens", 2_100, 30).winter().few(9),
        ],
    ),
    shelf(
        "Kitchen",
        "Home",
        "stoneware",
        &[
            plain("Enamel mug", 1_450, 120),
            plain("Stoneware bowl", 1_850, 48),
            plain("Oyster dish", 3_200, 16),
            plain("Tide-table tea towel", 1_200, 75),
            plain("Beech bread board", 3_900, 27),
            plain("Carafe with cork", 2_950, 18).sale(2_350),
        ],
    ),
    shelf(
        "Candles and lamps",
        "Home",
        "gift",
        &[
            plain("Driftwood candle", 1_650, 70).winter(),
            plain("Harbour lantern", 4_500, 26).winter(),
            plain("Beeswax pair", 1_250, 41).winter(),
            plain("Rope table lamp", 7_800, 9).few(3),
            plain("Glass float light", 5_200, 12).winter(),
        ],
    ),
    shelf(
        "Prints",
        "Home",
        "paper",
        &[
            plain("Map of the old pier", 2_800, 36),
            plain("Gulls in ink, a set of three", 3_600, 21),
            plain("Lifeboat poster", 1_900, 33),
            plain("Tide calendar", 1_700, 38).winter(),
            article("Framed chart", Form::Sizes, 6_400, 11),
        ],
    ),
    shelf(
        "Beach",
        "Outdoors",
        "summer",
        &[
            plain("Striped picnic rug", 4_900, 52).summer(),
            article("Quick-dry towel", Form::Colours, 2_600, 85).summer(),
            plain("Canvas beach bag", 3_400, 62).summer(),
            plain("Wooden bat and ball", 1_800, 40).summer(),
            plain("Sandcastle moulds", 1_300, 46).summer(),
            plain("Folding deck chair", 8_500, 14).summer().few(6),
            plain("Wind break", 3_900, 20).summer().sale(2_900),
        ],
    ),
    shelf(
        "Trail",
        "Outdoors",
        "camping",
        &[
            plain("Steel flask", 2_700, 55),
            plain("Head torch", 3_100, 24),
            plain("Waxed day pack", 11_900, 13),
            plain("Kelp-green hammock", 5_600, 15).summer(),
            plain("Camp kettle", 3_300, 19),
            plain("Pocket binoculars", 6_900, 12).few(0),
        ],
    ),
    Shelf {
        is_food: true,
        ..shelf(
            "Coffee and tea",
            "Pantry",
            "fair",
            &[
                plain("Boardwalk blend, 250 g", 1_090, 130),
                plain("Night watch espresso, 250 g", 1_190, 88),
                plain("Decaf drift, 250 g", 1_150, 30),
                plain("Keeper's breakfast tea", 790, 64).winter(),
                plain("Beach rose infusion", 850, 36),
            ],
        )
    },
    Shelf {
        is_food: true,
        ..shelf(
            "Sweets",
            "Pantry",
            "gift",
            &[
                plain("Salt caramel tin", 1_350, 92),
                plain("Pier rock, a bundle", 650, 58).summer(),
                plain("Sea salt chocolate", 590, 100),
                plain("Ginger biscuits", 720, 49).winter(),
                plain("Saltwater toffee, 500 g", 990, 66),
            ],
        )
    },
    Shelf {
        is_food: true,
        ..shelf(
            "Jars",
            "Pantry",
            "fair",
            &[
                plain("Plum and bay jam", 780, 35),
                plain("Smoked sea salt", 690, 47),
                plain("Pickled samphire", 820, 14).few(4),
                plain("Honey from the dunes", 1_280, 40),
            ],
        )
    },
    shelf(
        "Patterns",
        "Downloads",
        "paper",
        &[
            article("Fisher's jumper, knitting pattern", Form::File, 650, 42).winter(),
            article("Watch cap, knitting pattern", Form::File, 450, 38).winter(),
            article("Beach bag, sewing pattern", Form::File, 550, 25).summer(),
            article("Paper boats, twelve sheets to fold", Form::File, 350, 20),
        ],
    ),
    shelf(
        "Sound and reading",
        "Downloads",
        "gift",
        &[
            article("An hour of surf, recorded", Form::File, 500, 30),
            article("Fog horns of the coast, an album", Form::File, 900, 16),
            article("Forty soups for a cold pier, a cookbook", Form::File, 1_200, 28).winter(),
            article("The keeper's year, a diary in print and sound", Form::File, 1_500, 9),
        ],
    ),
    shelf(
        "Gifts and services",
        "Home",
        "gift",
        &[
            article("Gift card 25", Form::Service, 2_500, 33).winter(),
            article("Gift card 50", Form::Service, 5_000, 21).winter(),
            article("Gift wrapping with a note", Form::Service, 400, 44).winter(),
            article("Knife sharpening, by post", Form::Service, 1_100, 7),
            plain("Surprise box", 3_900, 23).winter(),
        ],
    ),
];
