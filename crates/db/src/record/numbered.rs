//! Writing records whose key is a number that the database gives out.

use types::Result;

use super::{Record, fixed_values};
use crate::{Conn, Sql, Val, counter};

impl dyn Conn + '_ {
    /// Runs an [`insert!`](crate::insert) with this number as the key, whatever the record says.
    pub fn insert_as<R: Record>(&mut self, sql: &Sql, record: &R, number: i64) -> Result<()> {
        assert_eq!(R::KEY.len(), 1, "{} must have one number as its key", R::TABLE);
        let folded = record.folded_values();
        let mut values = fixed_values::<R>();
        values.push(Val::Int(number));
        values.extend(record.field_values());
        values.extend(folded.iter().map(Val::from));
        self.execute_one(sql, &values)
    }

    /// Inserts the record with the next number of a counter as its key, and returns that number.
    /// Counting starts at one.
    pub fn insert_next<R: Record>(&mut self, sql: &Sql, record: &R, name: &str) -> Result<i64> {
        let number = counter::take(self, name, 1)? + 1;
        self.insert_as(sql, record, number)?;
        Ok(number)
    }

    /// Runs an [`update!`](crate::update) of a row that may be gone. Returns whether it was there.
    pub fn update_existing<R: Record>(&mut self, sql: &Sql, record: &R) -> Result<bool> {
        Ok(self.execute(sql, &update_values(record, &record.folded_values()))? == 1)
    }
}

/// What an [`update!`](crate::update) takes.
pub(super) fn update_values<'a, R: Record>(record: &'a R, folded: &'a [String]) -> Vec<Val<'a>> {
    let mut values = record.field_values();
    values.extend(folded.iter().map(Val::from));
    values.extend(fixed_values::<R>());
    values.extend(record.key_values());
    values
}

#[cfg(test)]
mod tests {
    use crate::Record as _;

    crate::record! {
        /// An example.
        #[derive(Debug)]
        struct Page in "pages", fixed(site_id = 1), key(id: i64 as "page_id") {
            title: String,
            text: String,
        }
        folded { title as "title_key", search_text() as "search" }
    }

    impl Page {
        fn search_text(&self) -> String {
            [&*self.title, &self.text].join("\n")
        }
    }

    #[test]
    fn folded_columns_follow_fields_and_methods() {
        let page = Page { id: 7, title: "Été".into(), text: "Sea".into() };
        assert_eq!(page.folded_values(), ["été", "été\nsea"]);
        let values = super::update_values(&page, &page.folded_values()).len();
        assert!(crate::update!(Page).ends_with(&format!("page_id = ${values}")));
    }
}
