//! The demo's coupons: those of campaigns, which come back every year with another code, and those
//! that are always there.

use serde_json::{Value, json};

/// A coupon as it is offered.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) code: &'static str,
    pub(super) kind: &'static str,
    pub(super) amount: &'static str,
    pub(super) minimum: &'static str,
    pub(super) about: &'static str,
    pub(super) leaves_out_sales: bool,
    pub(super) free_shipping: bool,
    /// The only category that it is for, by its name; empty for all.
    pub(super) category: &'static str,
    /// Of so many of a thousand orders it is asked for, while it is offered.
    pub(super) share: u64,
}

/// An offer of some days in the year.
#[derive(Debug)]
pub(super) struct Campaign {
    pub(super) offer: Offer,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) days: i64,
    /// How much more is bought meanwhile, in thousandths.
    pub(super) boost: u64,
}

const fn offer(code: &'static str, kind: &'static str, amount: &'static str) -> Offer {
    Offer {
        code,
        kind,
        amount,
        minimum: "0",
        about: "",
        leaves_out_sales: false,
        free_shipping: false,
        category: "",
        share: 0,
    }
}

pub(super) const CAMPAIGNS: [Campaign; 5] = [
    Campaign {
        offer: Offer {
            about: "10% off all through spring.",
            share: 210,
            ..offer("springtide", "percent", "10")
        },
        month: 3,
        day: 20,
        days: 12,
        boost: 1_250,
    },
    Campaign {
        offer: Offer {
            about: "15% off beachwear in the week of the fireworks.",
            category: "Beach",
            share: 160,
            ..offer("fireworks", "percent", "15")
        },
        month: 7,
        day: 1,
        days: 8,
        boost: 1_200,
    },
    Campaign {
        offer: Offer {
            about: "$8 off orders of $50 or more, at the end of the holidays.",
            minimum: "50",
            share: 190,
            ..offer("backtotown", "fixed_cart", "8")
        },
        month: 9,
        day: 1,
        days: 10,
        boost: 1_150,
    },
    Campaign {
        offer: Offer {
            about: "20% off everything that is not on sale.",
            leaves_out_sales: true,
            share: 420,
            ..offer("blackpier", "percent", "20")
        },
        month: 11,
        day: 23,
        days: 8,
        boost: 2_100,
    },
    Campaign {
        offer: Offer {
            about: "$3 off each house-brand item before the holidays.",
            category: "Home",
            share: 180,
            ..offer("lanterns", "fixed_product", "3")
        },
        month: 12,
        day: 8,
        days: 11,
        boost: 1_300,
    },
];

/// For the first order of a customer.
pub(super) const WELCOME: Offer = Offer {
    about: "10% off your first order.",
    minimum: "20",
    share: 130,
    ..offer("welcome10", "percent", "10")
};

/// For everybody, always.
pub(super) const ALWAYS: [Offer; 2] = [
    Offer {
        about: "$5 off for friends of friends.",
        minimum: "30",
        share: 18,
        ..offer("friends5", "fixed_cart", "5")
    },
    Offer {
        about: "Free shipping.",
        minimum: "25",
        free_shipping: true,
        share: 15,
        ..offer("parcelonus", "percent", "0")
    },
];

impl Campaign {
    /// The code of a year.
    pub(super) fn code(&self, year: i64) -> String {
        format!("{}{:02}", self.offer.code, year.rem_euclid(100))
    }
}

impl Offer {
    /// The coupon as a request for one. `ends` is its last moment in the site's time, if it has
    /// one.
    pub(super) fn body(&self, code: &str, ends: Option<String>, category_id: Option<i64>) -> Value {
        json!({
            "code": code,
            "discount_type": self.kind,
            "amount": self.amount,
            "description": self.about,
            "individual_use": true,
            "exclude_sale_items": self.leaves_out_sales,
            "free_shipping": self.free_shipping,
            "minimum_amount": self.minimum,
            "product_categories": category_id.into_iter().collect::<Vec<i64>>(),
            "date_expires": ends,
        })
    }
}
