//! The picture that stands for a missing one, in the forms that every site has: a landscape in a
//! frame, a sun above two mountains. It is shipped, so that a new site need not draw it.

use super::sizes::{PictureSize, USUAL};

/// Pixels of a side of the whole picture.
pub const SIDE: u32 = 1200;

/// Its files by the pixels of a side, the whole picture first.
const FILES: [(u32, &[u8]); 5] = [
    (SIDE, include_bytes!("../../pictures/placeholder-1200.webp")),
    (1024, include_bytes!("../../pictures/placeholder-1024.webp")),
    (768, include_bytes!("../../pictures/placeholder-768.webp")),
    (300, include_bytes!("../../pictures/placeholder-300.webp")),
    (150, include_bytes!("../../pictures/placeholder-150.webp")),
];

/// The file of the whole picture, or of a smaller form.
pub fn file(side: u32) -> Option<&'static [u8]> {
    FILES.iter().find(|(of, _)| *of == side).map(|(_, file)| *file)
}

/// The smaller forms that every site has of it, with the pixels of a side.
pub fn forms() -> impl Iterator<Item = (&'static PictureSize, u32)> {
    USUAL.iter().filter_map(|size| Some((size, size.cut((SIDE, SIDE))?.result.0)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::media::file_type::WEBP;
    use crate::media::picture::Picture;

    #[test]
    fn every_form_is_shipped_in_its_measures() {
        for side in forms().map(|(_, side)| side).chain([SIDE]) {
            let path = format!("pictures/placeholder-{side}.webp");
            assert_eq!(file(side).unwrap(), std::fs::read(&path).unwrap());
            let picture = Picture::decode(File::open(path).unwrap(), &WEBP, 64 << 20).unwrap();
            assert_eq!(picture.measures(), (side, side));
        }
    }
}
