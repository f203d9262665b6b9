//! How the addresses of posts are put together: the site's option says which parts there are, such
//! as year, month, day and slug.

use frame::Options;
use jiff::tz::TimeZone;
use site_rows::post::PostRow;
use types::Timestamp;

/// The parts of addresses where the option says nothing that can be used.
const PLAIN: &[Part] = &[Part::Slug];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Number,
    Slug,
    Fixed(String),
}

/// The parts of the path of a post.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Structure(Vec<Part>);

impl Structure {
    pub(super) fn of(options: &Options) -> Self {
        Self::read(&options.text("permalink_structure"))
    }

    /// **The slug stands at the end**: what says otherwise is passed over, since posts are found by
    /// their slugs.
    fn read(text: &str) -> Self {
        let parts = text.split('/').filter(|part| !part.is_empty()).map(|part| match part {
            "%year%" => Part::Year,
            "%monthnum%" => Part::Month,
            "%day%" => Part::Day,
            "%hour%" => Part::Hour,
            "%minute%" => Part::Minute,
            "%second%" => Part::Second,
            "%post_id%" => Part::Number,
            "%postname%" => Part::Slug,
            fixed => Part::Fixed(fixed.to_owned()),
        });
        let parts: Vec<Part> = parts.collect();
        let known =
            parts.iter().all(|part| !matches!(part, Part::Fixed(text) if text.contains('%')));
        let usable = known && parts.last() == Some(&Part::Slug);
        Self(if usable { parts } else { PLAIN.to_vec() })
    }

    /// How many parts a path has.
    pub(super) fn length(&self) -> usize {
        self.0.len()
    }

    pub(super) fn path(&self, row: &PostRow, slug: &str) -> String {
        let parts: Vec<String> = self.0.iter().map(|part| part.text(row, slug)).collect();
        format!("/{}/", parts.join("/"))
    }

    /// Whether these are the parts of the post's path.
    pub(super) fn fits(&self, row: &PostRow, parts: &[String]) -> bool {
        let own = self.0.iter().map(|part| part.text(row, &row.slug));
        own.eq(parts.iter().cloned())
    }
}

impl Part {
    fn text(&self, row: &PostRow, slug: &str) -> String {
        match self {
            Self::Year => written(row.date, "%Y"),
            Self::Month => written(row.date, "%m"),
            Self::Day => written(row.date, "%d"),
            Self::Hour => written(row.date, "%H"),
            Self::Minute => written(row.date, "%M"),
            Self::Second => written(row.date, "%S"),
            Self::Number => row.post_id.to_string(),
            Self::Slug => slug.to_owned(),
            Self::Fixed(text) => text.clone(),
        }
    }
}

/// A part of a time of day of the site.
fn written(local: Timestamp, format: &str) -> String {
    jiff::Timestamp::from_microsecond(local.as_micros())
        .map(|time| time.to_zoned(TimeZone::UTC).strftime(format).to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_parts_that_the_option_names() {
        let row = PostRow {
            post_id: 7,
            slug: String::from("first-tide"),
            date: Timestamp::parse("2024-03-01T08:05:09Z").unwrap(),
            ..PostRow::default()
        };
        for (option, path) in [
            ("/%postname%/", "/first-tide/"),
            ("/%year%/%monthnum%/%day%/%postname%/", "/2024/03/01/first-tide/"),
            ("/news/%post_id%/%postname%", "/news/7/first-tide/"),
            ("/%hour%/%minute%/%second%/%postname%/", "/08/05/09/first-tide/"),
            ("/%postname%/%year%/", "/first-tide/"),
            ("/%category%/%postname%/", "/first-tide/"),
            ("", "/first-tide/"),
        ] {
            let structure = Structure::read(option);
            assert_eq!(structure.path(&row, &row.slug), path, "{option}");
            let parts: Vec<String> = path.trim_matches('/').split('/').map(str::to_owned).collect();
            assert!(structure.fits(&row, &parts), "{option}");
            assert_eq!(structure.length(), parts.len());
        }
        let other = ["2024", "03", "02", "first-tide"].map(str::to_owned);
        let by_date = Structure::read("/%year%/%monthnum%/%day%/%postname%/");
        assert!(!by_date.fits(&row, &other), "another day");
    }
}
