//! Dictionaries: what rows name is written once and numbered from 0, and rows hold the number, so
//! that groups and sets are plain arrays.
//!
//! A dictionary only grows, so a number never changes its meaning, and older snapshots stay right
//! with a newer dictionary. The way from a value to its number is the writer's alone.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::bytes::{Decoder, Encoder};
use super::fact::OrderText;

/// The writer's side.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary<T> {
    values: Arc<Vec<T>>,
    codes: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Dictionary<T> {
    /// With some values that have the first numbers.
    pub(crate) fn new(first: Vec<T>) -> Self {
        let mut dictionary = Self { values: Arc::default(), codes: HashMap::new() };
        for value in first {
            dictionary.code(&value);
        }
        dictionary
    }

    /// The number of the value, which gets one if it has none.
    pub(crate) fn code(&mut self, value: &T) -> u32 {
        if let Some(code) = self.codes.get(value) {
            return *code;
        }
        let code = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        Arc::make_mut(&mut self.values).push(value.clone());
        self.codes.insert(value.clone(), code);
        code
    }

    pub(crate) fn has(&self, value: &T) -> bool {
        self.codes.contains_key(value)
    }

    /// How many values there are.
    fn len(&self) -> usize {
        self.values.len()
    }

    /// What readers see.
    pub(crate) fn shared(&self) -> Arc<Vec<T>> {
        Arc::clone(&self.values)
    }
}

/// Something that was chosen for a line: name and value, by name.
pub(crate) type AttributeSet = Vec<(String, String)>;

/// A rate as an order had it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RateCode {
    pub(crate) rate_id: i64,
    pub(crate) code: Arc<str>,
    pub(crate) percent: i64,
}

/// A dictionary whose values have something in common, which has a dictionary of its own.
#[derive(Clone, Debug)]
pub(crate) struct Related<T> {
    kinds: Dictionary<T>,
    kind_of: Arc<Vec<u32>>,
}

impl<T: Clone + Eq + Hash> Related<T> {
    fn new() -> Self {
        Self { kinds: Dictionary::new(Vec::new()), kind_of: Arc::default() }
    }

    /// Notes what a value has in common, if that is a new value.
    fn note(&mut self, code: u32, kind: &T) {
        if u32::try_from(self.kind_of.len()) == Ok(code) {
            let kind = self.kinds.code(kind);
            Arc::make_mut(&mut self.kind_of).push(kind);
        }
    }

    fn shared(&self) -> Kinds<T> {
        Kinds { values: self.kinds.shared(), of: Arc::clone(&self.kind_of) }
    }
}

/// What values of a dictionary have in common, as readers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds<T> {
    pub(crate) values: Arc<Vec<T>>,
    /// By the number of the value.
    pub(crate) of: Arc<Vec<u32>>,
}

/// All dictionaries, as the writer has them.
#[derive(Clone, Debug)]
pub(crate) struct Dictionaries {
    /// By the place of the field.
    texts: [Dictionary<Arc<str>>; OrderText::COUNT],
    pub(crate) customers: Dictionary<i64>,
    /// Product and variation.
    goods: Dictionary<(i64, i64)>,
    products: Related<i64>,
    variations: Related<i64>,
    pub(crate) attributes: Dictionary<AttributeSet>,
    pub(crate) coupons: Dictionary<i64>,
    rates: Dictionary<RateCode>,
    rate_ids: Related<i64>,
}

impl Default for Dictionaries {
    fn default() -> Self {
        Self {
            texts: std::array::from_fn(|_| Dictionary::new(vec![Arc::from("")])),
            customers: Dictionary::new(vec![0]),
            goods: Dictionary::new(Vec::new()),
            products: Related::new(),
            variations: Related::new(),
            attributes: Dictionary::new(vec![Vec::new()]),
            coupons: Dictionary::new(Vec::new()),
            rates: Dictionary::new(Vec::new()),
            rate_ids: Related::new(),
        }
    }
}

impl Dictionaries {
    /// As a file has them. None when a value is there twice.
    pub(crate) fn of_names(names: &Names) -> Option<Self> {
        fn of<T: Clone + Eq + Hash>(values: &[T]) -> Option<Dictionary<T>> {
            let dictionary = Dictionary::new(values.to_vec());
            (dictionary.len() == values.len()).then_some(dictionary)
        }
        let texts: Option<Vec<_>> = names.texts.iter().map(|texts| of(texts)).collect();
        let mut dictionaries = Self {
            texts: texts?.try_into().ok()?,
            customers: of(&names.customers)?,
            attributes: of(&names.attributes)?,
            coupons: of(&names.coupons)?,
            ..Self::default()
        };
        for pair in names.goods.iter() {
            dictionaries.goods_code(*pair);
        }
        for rate in names.rates.iter() {
            dictionaries.rate_code(rate);
        }
        let counts = (dictionaries.goods.len(), dictionaries.rates.len());
        (counts == (names.goods.len(), names.rates.len())).then_some(dictionaries)
    }

    pub(crate) fn text_code(&mut self, field: OrderText, text: &Arc<str>) -> u32 {
        self.texts.get_mut(field.index()).map_or(0, |texts| texts.code(text))
    }

    /// The texts of a field, by their numbers.
    pub(crate) fn texts(&self, field: OrderText) -> Arc<Vec<Arc<str>>> {
        self.texts.get(field.index()).map(Dictionary::shared).unwrap_or_default()
    }

    pub(crate) fn goods_code(&mut self, pair: (i64, i64)) -> u32 {
        let code = self.goods.code(&pair);
        self.products.note(code, &pair.0);
        self.variations.note(code, &pair.1);
        code
    }

    pub(crate) fn rate_code(&mut self, rate: &RateCode) -> u32 {
        let code = self.rates.code(rate);
        self.rate_ids.note(code, &rate.rate_id);
        code
    }

    pub(crate) fn shared(&self) -> Names {
        Names {
            texts: self.texts.each_ref().map(Dictionary::shared),
            customers: self.customers.shared(),
            goods: self.goods.shared(),
            products: self.products.shared(),
            variations: self.variations.shared(),
            attributes: self.attributes.shared(),
            coupons: self.coupons.shared(),
            rates: self.rates.shared(),
            rate_ids: self.rate_ids.shared(),
        }
    }
}

/// All dictionaries, as readers have them: what each number stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// By the place of the field.
    texts: [Arc<Vec<Arc<str>>>; OrderText::COUNT],
    pub(crate) customers: Arc<Vec<i64>>,
    /// Product and variation.
    pub(crate) goods: Arc<Vec<(i64, i64)>>,
    pub(crate) products: Kinds<i64>,
    pub(crate) variations: Kinds<i64>,
    pub(crate) attributes: Arc<Vec<AttributeSet>>,
    pub(crate) coupons: Arc<Vec<i64>>,
    pub(crate) rates: Arc<Vec<RateCode>>,
    pub(crate) rate_ids: Kinds<i64>,
}

impl Names {
    /// The texts of a field, by their numbers.
    pub(crate) fn texts(&self, field: OrderText) -> &[Arc<str>] {
        self.texts.get(field.index()).map(|texts| texts.as_slice()).unwrap_or_default()
    }

    pub(super) fn encode(&self, encoder: &mut Encoder) {
        for texts in &self.texts {
            encoder.length(texts.len());
            texts.iter().for_each(|text| encoder.text(text));
        }
        encoder.numbers(&self.customers);
        encoder.numbers(&self.coupons);
        let (products, variations): (Vec<i64>, Vec<i64>) = self.goods.iter().copied().unzip();
        encoder.numbers(&products);
        encoder.numbers(&variations);
        encoder.length(self.attributes.len());
        for set in self.attributes.iter() {
            encoder.length(set.len());
            for (name, value) in set {
                encoder.text(name);
                encoder.text(value);
            }
        }
        encoder.length(self.rates.len());
        for rate in self.rates.iter() {
            encoder.number(rate.rate_id);
            encoder.text(&rate.code);
            encoder.number(rate.percent);
        }
    }

    /// What other dictionaries follow from these is left out.
    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let mut texts = Vec::new();
        for _ in OrderText::ALL {
            let count = decoder.length()?;
            let values = (0..count).map(|_| decoder.text().map(Arc::from));
            texts.push(Arc::new(values.collect::<Option<Vec<Arc<str>>>>()?));
        }
        let customers = Arc::new(decoder.numbers()?);
        let coupons = Arc::new(decoder.numbers()?);
        let (products, variations) = (decoder.numbers()?, decoder.numbers()?);
        let goods = Arc::new(products.into_iter().zip(variations).collect());
        let mut attributes = Vec::new();
        for _ in 0..decoder.length()? {
            let count = decoder.length()?;
            let set = (0..count).map(|_| Some((decoder.text()?, decoder.text()?)));
            attributes.push(set.collect::<Option<AttributeSet>>()?);
        }
        let mut rates = Vec::new();
        for _ in 0..decoder.length()? {
            let (rate_id, code) = (decoder.number()?, decoder.text()?.into());
            rates.push(RateCode { rate_id, code, percent: decoder.number()? });
        }
        Some(Self {
            texts: texts.try_into().ok()?,
            customers,
            goods,
            attributes: Arc::new(attributes),
            coupons,
            rates: Arc::new(rates),
            ..Self::default()
        })
    }
}
