//! The card-data guard: what it finds, what it lets pass, and how often it is wrong about the
//! numbers that shops are full of.

use contract::card_data::{find, is_card_data};
use contract::walk::path_text;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use types::luhn;

fn paths(value: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    find(value.as_object().expect("an object"), &mut |steps| paths.push(path_text(steps)));
    paths
}

#[test]
fn card_numbers_are_found() {
    for text in [
        "4111111111111111",
        "5555555555554444",
        "411111111111111118",
        "4222222222222",
        "4111111111111111110",
        "4111111111111111D2",
        "4111111111111111=2512101",
        "Card 4111111111111111 here",
        "card4111111111111111",
        "Card-4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111 - 1111 - 1111 - 1111",
        "3782 822463 10005",
        "4111 1111 1111 1111 12 25",
        "4111 1111 1111 1111 1225 123",
        "Suite 12 4111 1111 1111 1111",
        "4111111111111111 123",
        "https://shop.example/4111111111111111.png",
        "https://shop.example/?logo=4111111111111111",
        "My card: 4111 1111 1111 1111, tracking is fine",
        "４１１１１１１１１１１１１１１１",
        "٤١١١١١١١١١١١١١١١",
        "4111\u{a0}1111\u{200b}1111\u{2011}1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1",
        "(4111)(1111)(1111)(1111)",
        "(4111) (1111) (1111) (1111)",
        "4111(1111)1111(1111)",
        "4111 1111 1111 1111\n5500 0000 0000 0004",
        "4111 1111 1111 1111, 5500 0000 0000 0004",
        "4111 1111 1111 1111 5500 0000 0000 0004",
        "0827 4111 1111 1111 1111",
        "Order 1234\n4111 1111 1111 1111",
        "4111 1111\n1111 1111",
    ] {
        assert!(is_card_data(text), "{text}");
    }
}

#[test]
fn numbers_are_found_however_they_are_written() {
    for number in ["4111111111111111", "4111111111111111.0", "4.111111111111111e15"] {
        let value: Value = serde_json::from_str(&format!(r#"{{"note":{number}}}"#)).unwrap();
        assert_eq!(paths(&value), ["note"], "{number}");
    }
    assert!(paths(&json!({ "weight": 4111.5 })).is_empty());
}

#[test]
fn any_sign_may_separate_the_groups() {
    for sign in ". / _ , ' * + : ; | ~ # = \\ • ’ [ ] ( ) -".split(' ') {
        for gap in [sign.to_owned(), format!(" {sign} ")] {
            assert!(is_card_data(&["4111", "1111", "1111", "1111"].join(&gap)), "{gap:?}");
            assert!(is_card_data(&["3782", "822463", "10005"].join(&gap)), "{gap:?}");
        }
        let digits: Vec<String> = "4111111111111111".chars().map(String::from).collect();
        assert!(is_card_data(&digits.join(sign)), "{sign:?}");
    }
}

#[test]
fn tracks_are_found_whatever_their_check_digit() {
    for text in [
        "%B4111111111111112^DOE/J^2512101?",
        ";4111111111111112=2512101?",
        ";4111111111111112?",
        "%b1234567890123",
        "% ;1234567890123",
        ";123456789012345678901234567890",
        "%B4111 1111 1111 1112^",
        "100%;1234567890123",
    ] {
        assert!(is_card_data(text), "{text}");
    }
}

#[test]
fn ordinary_texts_pass() {
    for text in [
        "",
        "411111111117",
        "4111111111111112",
        "41111111111111111111111111111111",
        "%;?",
        "100% Pure; Since 1987?",
        "Kit % 1234567890123",
        "Kit ; 1234567890123",
        "&nbsp;1234567890123 &amp;4111111111111112",
        "?q=%201731740000000",
        "12 Main St, Suite 300, 555-123-4567",
        "PINPAD000000",
        "4111a1111a1111a1111",
        "²²²²²²²²²²²²²²²²",
        // Sizes, a network address, a time, an article, a telephone number.
        "36, 38, 40, 42, 44, 46, 48",
        "36 37 38 39 40 41 42",
        "2620:0119:0035:0035:0000:0000:0000:0053",
        "2026-11-15T08:00:00.000000Z",
        "4006381333931",
        "+49 1512 3456787",
        // Numbers that are somebody's reference, though one in fifty has all that a card's has.
        "Shipped with FedEx, tracking number 4111111111111111",
        "Transaction ID: 4111111111111111",
        "1Z4111111111111111",
        "YT4111111111111111",
        "DE44 5555 5555 5555 4444 31",
        "4205 9021 9400 1112 0255 5432 1098 76",
    ] {
        assert!(!is_card_data(text), "{text}");
    }
}

#[test]
fn values_are_found_wherever_they_are() {
    let order = json!({
        "customer_note": "4111 1111 1111 1111",
        "billing": { "address_1": "4111.1111.1111.1111", "phone": "4915123456789" },
        "transaction_id": "4111111111111111",
        "meta_data": [
            { "key": "_tracking_number", "value": "4111111111111111" },
            { "key": "card_id", "value": "4111111111111111" },
            { "key": "notes", "value": { "deep": [1, 4_111_111_111_111_111_i64] } },
            { "id": 7, "key": "sizes", "value": "36,38,40,42,44,46,48" },
        ],
        "line_items": [{ "sku": "4111111111111111", "name": "Lamp" }],
        "extra": { "4111111111111111": true },
    });
    let expected = [
        "customer_note",
        "billing.address_1",
        "meta_data[1].value",
        "meta_data[2].value.deep[1]",
        "extra",
    ];
    assert_eq!(paths(&order), expected);
}

proptest! {
    #[test]
    fn any_card_is_found_in_any_company(
        payload in "4[0-9]{14}|5[1-5][0-9]{13}|6011[0-9]{11}",
        before in "([A-Za-z !.,]* )?",
        after in "([ ,.!)][A-Za-z ]*)?",
        gap in prop::sample::select(vec!["", " ", "-", ".", "/", "_", " - "]),
    ) {
        // Words that name an identifier are for the tests above.
        prop_assume!(!is_named(&before));
        let check_digit = luhn::check_digit(payload.bytes().map(|byte| byte - b'0'));
        let mut text = before;
        for (index, digit) in format!("{payload}{check_digit}").chars().enumerate() {
            text.push_str(if index > 0 && index % 4 == 0 { gap } else { "" });
            text.push(digit);
        }
        text.push_str(&after);
        prop_assert!(is_card_data(&text), "{}", text);
    }

    #[test]
    fn a_wrong_check_digit_passes(payload in "[0-9]{12,18}", off in 1_u8..10) {
        let check_digit = luhn::check_digit(payload.bytes().map(|byte| byte - b'0'));
        let text = format!("{payload}{}", (check_digit + off) % 10);
        prop_assert!(!is_card_data(&text));
    }

    #[test]
    fn no_text_makes_it_panic(text: String) {
        let _ = is_card_data(&text);
    }
}

/// Whether a card number behind the text would be taken for an identifier.
fn is_named(before: &str) -> bool {
    !is_card_data(&format!("{before}4111111111111111"))
}

/// How many made-up records the guard is wrong about, of 100,000 orders with all that shops write
/// into them, and of as many numbers of each kind by themselves in a note.
#[test]
fn false_alarms_are_rarer_than_one_in_a_hundred_thousand() {
    const RECORDS: u64 = 100_000;
    let mut random = Random(17);
    let mut alarms: Vec<String> = Vec::new();
    for number in 0..RECORDS {
        let order = made_up_order(&mut random, number);
        if !paths(&order).is_empty() {
            alarms.push(format!("{:?} in {order}", paths(&order)));
        }
        for text in made_up_texts(&mut random) {
            if is_card_data(&text) {
                alarms.push(text);
            }
        }
    }
    let texts = u64::try_from(made_up_texts(&mut random).len()).unwrap_or_default();
    println!("{} false alarms in {} orders and {} texts", alarms.len(), RECORDS, RECORDS * texts);
    assert!(alarms.is_empty(), "{} false alarms, such as {:?}", alarms.len(), alarms.first());
}

/// Enough randomness for made-up records, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn text(&mut self, alphabet: &str, len: usize) -> String {
        let letters = alphabet.as_bytes();
        let count = u64::try_from(letters.len()).unwrap_or(1);
        let letter = |random: &mut Self| {
            let place = usize::try_from(random.below(count)).unwrap_or_default();
            char::from(letters.get(place).copied().unwrap_or(b'0'))
        };
        (0..len).map(|_| letter(self)).collect()
    }

    fn digits(&mut self, len: usize) -> String {
        self.text("0123456789", len)
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let count = u64::try_from(choices.len()).unwrap_or(1);
        let place = usize::try_from(self.below(count)).unwrap_or_default();
        choices.get(place).copied().unwrap_or_default()
    }

    /// An article number with its own check digit.
    fn article(&mut self) -> String {
        let digits = self.digits(12);
        let weights = [1, 3].into_iter().cycle();
        let sum: u32 = digits.bytes().zip(weights).map(|(b, by)| u32::from(b - b'0') * by).sum();
        format!("{digits}{}", (10 - sum % 10) % 10)
    }

    fn phone(&mut self) -> String {
        let (area, number) = (self.digits(3), self.digits(7));
        match self.below(6) {
            0 => format!("+49 151 {}", self.digits(8)),
            1 => format!("+4{}", self.digits(12)),
            2 => format!("({area}) {}-{}", self.digits(3), self.digits(4)),
            3 => format!("+1 {area} {number} x{}", self.digits(4)),
            4 => format!("00{}", self.digits(12)),
            _ => format!("+44 7{} {}", self.digits(3), self.digits(6)),
        }
    }

    fn tracking(&mut self) -> String {
        match self.below(8) {
            0 => format!("1Z{}", self.text("ABCDEFGHJKLMNPRSTUVWXY0123456789", 16)),
            1 => format!("1Z{}", self.digits(16)),
            2 => format!("94001{}", self.digits(17)),
            3 => format!(
                "9400 1{} {} {} {} {}",
                self.digits(3),
                self.digits(4),
                self.digits(4),
                self.digits(4),
                self.digits(2)
            ),
            4 => format!("JJD{}", self.digits(18)),
            5 => format!("GM{}", self.digits(16)),
            6 => format!("YT{}", self.digits(16)),
            _ => format!("00340434{}", self.digits(12)),
        }
    }

    fn sku(&mut self) -> String {
        match self.below(5) {
            0 => self.article(),
            1 => format!("SKU-{}", self.digits(6)),
            2 => format!("{}-{}-XL", self.text("ABCDEFGHIJ", 3), self.digits(4)),
            3 => format!("{}_{}", self.text("ABCDEFGHIJ", 2), self.digits(16)),
            _ => self.digits(16),
        }
    }

    fn uuid(&mut self) -> String {
        let parts = [8, 4, 3, 3, 12].map(|len| self.text(HEX, len));
        let [first, second, third, fourth, last] = parts;
        format!("{first}-{second}-4{third}-8{fourth}-{last}")
    }
}

const HEX: &str = "0123456789abcdef";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// An order as clients send it, with numbers that machines make under their usual names.
fn made_up_order(random: &mut Random, number: u64) -> Value {
    let carrier = random.pick(&["FedEx", "UPS", "DHL", "USPS", "Canada Post"]);
    let (parcel, charge) = (random.digits(15), random.digits(16));
    json!({
        "number": number,
        "order_key": format!("wc_order_{}", random.text(LETTERS, 13)),
        "transaction_id": if number.is_multiple_of(2) { charge.clone() } else {
            format!("ch_{}", random.text(LETTERS, 24))
        },
        "cart_hash": random.text(HEX, 32),
        "date_created": format!("2026-{:02}-{:02}T10:{:02}:{:02}", 1 + random.below(12),
            1 + random.below(28), random.below(60), random.below(60)),
        "total": format!("{}.{}", random.below(99_999), random.digits(2)),
        "customer_note": format!("Ring twice, or call {}.", random.phone()),
        "billing": {
            "first_name": "Ada", "address_1": format!("{} Pier Road", random.below(9_999)),
            "postcode": random.digits(5), "phone": random.phone(),
            "email": format!("ada{}@shop.example", random.digits(6)),
        },
        "shipping": { "phone": random.digits(13) },
        "line_items": [{
            "product_id": random.below(99_999_999), "sku": random.sku(),
            "meta_data": [{ "key": "ean", "value": random.article() }],
        }],
        "meta_data": [
            { "key": "_tracking_number", "value": random.digits(16) },
            { "key": "_wc_shipment_tracking_items", "value": [{
                "tracking_provider": carrier, "tracking_number": parcel,
                "date_shipped": format!("17{}", random.digits(8)),
            }] },
            { "key": "_stripe_intent_id", "value": format!("pi_{}", random.text(LETTERS, 24)) },
            { "key": "_shopify_order_id", "value": random.digits(13) },
            { "key": "_paid_at", "value": 1_731_000_000_000_u64 + random.below(99_999_999_999) },
            { "key": "_session", "value": random.text(HEX, 40) },
        ],
        "note": format!("Shipped with {carrier}, tracking number {parcel}. Transaction ID: {charge}"),
    })
}

/// Numbers of one kind each, as they stand in notes.
fn made_up_texts(random: &mut Random) -> Vec<String> {
    vec![
        random.phone(),
        random.tracking(),
        format!("Your parcel {} is on its way.", random.tracking()),
        random.article(),
        random.uuid(),
        random.text(HEX, 64),
        format!("wc_order_{}", random.text(LETTERS, 13)),
        format!("17{}", random.digits(11)),
        format!("17{}", random.digits(14)),
        format!("2026{:02}{:02}{}", 1 + random.below(12), 1 + random.below(28), random.digits(6)),
        format!("{}-{}-{}", random.digits(3), random.digits(7), random.digits(7)),
        format!("ORD-{}", random.digits(16)),
        format!(
            "DE{} {} {} {} {} {}",
            random.digits(2),
            random.digits(4),
            random.digits(4),
            random.digits(4),
            random.digits(4),
            random.digits(2)
        ),
    ]
}

#[test]
fn an_empty_object_has_nothing() {
    assert_eq!(paths(&Value::Object(Map::new())), Vec::<String>::new());
}

/// Texts that would take for ever if their groups were compared with each other.
#[test]
fn long_texts_take_linear_time() {
    for part in ["4111 ", "4222222222222a", "4 ", "4111111111111111x", "card4111111111111112,"] {
        let _ = is_card_data(&part.repeat(50_000));
    }
}
