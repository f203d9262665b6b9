//! How items of the library are shown: their addresses, and the choice of sizes that browsers are
//! given.

use site_rows::media::MediaRow;

use super::file_type::GIF;
use super::sizes::{SizedFile, is_same_shape};

/// Where the files of the library are on every site, below its address.
pub const UPLOADS_PATH: &str = "/wp-content/uploads/";
/// Wider forms are offered only where they are asked for.
const SOURCE_WIDTH_MAX: u32 = 2048;

/// A form of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Below the site's address.
    pub path: String,
    pub width: u32,
    pub height: u32,
}

/// An item of the library, with its sizes read.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    pub row: &'a MediaRow,
    pub sizes: Vec<SizedFile>,
}

impl<'a> Shown<'a> {
    pub fn of(row: &'a MediaRow) -> Self {
        Self { row, sizes: serde_json::from_str(&row.sizes).unwrap_or_default() }
    }

    /// The address of the file, below the site's.
    pub fn path(&self) -> String {
        format!("{UPLOADS_PATH}{}", self.row.file)
    }

    /// The name of the file, without its folder.
    pub fn file_name(&self) -> &str {
        self.row.file.rsplit('/').next().unwrap_or_default()
    }

    pub fn is_picture(&self) -> bool {
        self.row.width > 0
    }

    /// The address of a file beside the whole picture.
    pub fn path_beside(&self, file: &str) -> String {
        let folder = self.row.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let slash = if folder.is_empty() { "" } else { "/" };
        format!("{UPLOADS_PATH}{folder}{slash}{file}")
    }

    /// The whole picture.
    pub fn whole(&self) -> Form {
        let side = |pixels: i64| u32::try_from(pixels).unwrap_or_default();
        let (width, height) = (side(self.row.width), side(self.row.height));
        Form { path: self.path(), width, height }
    }

    fn form(&self, sized: &SizedFile) -> Form {
        let path = self.path_beside(&sized.file);
        Form { path, width: sized.width, height: sized.height }
    }

    /// The picture in this size, or the whole of it.
    pub fn in_size(&self, size: &str) -> Form {
        let found = self.sizes.iter().find(|sized| sized.size == size);
        found.map_or_else(|| self.whole(), |sized| self.form(sized))
    }

    /// All forms of the picture that show the same as this one, which comes first; one for each
    /// width. A picture without others has none.
    pub fn sources(&self, chosen: &Form) -> Vec<Form> {
        let mut sources = vec![chosen.clone()];
        let whole = self.whole();
        let moves = self.row.mime_type == GIF.mime_type;
        if moves && *chosen == whole {
            return Vec::new();
        }
        let others = self.sizes.iter().map(|sized| self.form(sized));
        for form in others.chain((!moves).then_some(whole)) {
            let fits = is_same_shape((form.width, form.height), (chosen.width, chosen.height));
            let is_new = sources.iter().all(|known| known.width != form.width);
            if fits && is_new && form.width <= SOURCE_WIDTH_MAX {
                sources.push(form);
            }
        }
        if sources.len() < 2 { Vec::new() } else { sources }
    }
}
