//! What the choices among the settings offer. Some of it is in tables, some in the store.

use contract::rest::Stop;
use db::filter::{Direction, Page};
use frame::Call;
use site_rows::post::{PostFilter, PostOrder};

use super::table::Offers;
use crate::data::tables;
use crate::emails::FONTS;
use crate::orders::status::STATUSES;
use crate::setting_types::Choices;

/// Pages that are offered at most.
const PAGES_MAX: i64 = 500;

pub(super) fn of(call: &mut Call<'_>, offers: Offers) -> Result<Choices, Stop> {
    Ok(match offers {
        Offers::Nothing => Vec::new(),
        Offers::These(choices) => owned(choices),
        Offers::OrderStatuses => owned(STATUSES),
        Offers::Countries => {
            let countries = tables::countries().iter();
            countries.map(|country| (country.code.to_owned(), country.name.to_owned())).collect()
        }
        Offers::CountriesAndStates => tables::countries().iter().flat_map(with_states).collect(),
        Offers::Currencies => tables::currencies().iter().map(named_currency).collect(),
        Offers::FontFamilies => {
            let mut choices = owned(&[("", "Default")]);
            choices.extend(owned(FONTS));
            choices
        }
        Offers::Pages => pages(call)?,
        Offers::TaxClasses => {
            let mut choices =
                owned(&[("inherit", "Shipping tax class based on cart items"), ("", "Standard")]);
            let classes = shop_rows::tax_class::all(call.conn()?)?;
            choices.extend(classes.into_iter().map(|class| (class.slug, class.name)));
            choices
        }
    })
}

fn owned(choices: &[(&str, &str)]) -> Choices {
    choices.iter().map(|(value, name)| ((*value).to_owned(), (*name).to_owned())).collect()
}

fn with_states(country: &tables::Country) -> Choices {
    if country.states.is_empty() {
        return vec![(country.code.to_owned(), country.name.to_owned())];
    }
    let of_state = |state: &tables::State| {
        let value = format!("{}:{}", country.code, state.code);
        (value, format!("{} - {}", country.name, state.name))
    };
    country.states.iter().map(of_state).collect()
}

fn named_currency(currency: &tables::Currency) -> (String, String) {
    let tables::Currency { code, symbol, name } = currency;
    ((*code).to_owned(), format!("{name} ({symbol}) — {code}"))
}

fn pages(call: &mut Call<'_>) -> Result<Choices, Stop> {
    let filter = PostFilter {
        kinds: vec![String::from("page")],
        statuses: vec![String::from("publish")],
        order: PostOrder::MenuOrder,
        direction: Direction::Ascending,
        page: Page { limit: PAGES_MAX, offset: 0 },
        ..PostFilter::default()
    };
    let (pages, _) = site_rows::post::list(call.conn()?, &filter)?;
    let choice = |page: site_rows::post::PostRow| {
        let id = page.post_id.to_string();
        let title = if page.title.is_empty() { format!("#{id}") } else { page.title };
        (id, title)
    };
    Ok(pages.into_iter().map(choice).collect())
}
