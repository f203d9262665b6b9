//! The smaller forms of a picture: which there are, and what each measures. All of it is counted in
//! whole pixels, rounded where clients expect it.

use serde::{Deserialize, Serialize};

/// A form in which pictures are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    pub name: &'static str,
    pub width: u32,
    /// Zero for as high as it comes out.
    pub height: u32,
    /// What does not fit is cut off around the middle; else the whole picture is shown.
    pub cropped: bool,
    /// Clients are told that it is no uncropped one.
    pub tells_cropping: bool,
}

impl PictureSize {
    pub const fn whole(name: &'static str, width: u32, height: u32) -> Self {
        Self { name, width, height, cropped: false, tells_cropping: false }
    }

    pub const fn cropped(name: &'static str, width: u32, height: u32) -> Self {
        Self { name, width, height, cropped: true, tells_cropping: false }
    }

    #[must_use]
    pub const fn telling(mut self) -> Self {
        self.tells_cropping = true;
        self
    }
}

/// What every site has, in the order in which it is shown.
pub const USUAL: &[PictureSize] = &[
    PictureSize::whole(MEDIUM, 300, 300),
    PictureSize::whole("large", 1024, 1024),
    PictureSize::cropped("thumbnail", 150, 150),
    PictureSize::whole("medium_large", 768, 0),
    PictureSize::whole("1536x1536", 1536, 1536),
    PictureSize::whole("2048x2048", 2048, 2048),
];

pub const MEDIUM: &str = "medium";

/// A smaller form of a picture that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizedFile {
    pub size: String,
    /// Its name within the folder of the whole picture.
    pub file: String,
    pub width: u32,
    pub height: u32,
    pub bytes: u64,
}

/// How a form is made: the part of the picture that is taken, and what it measures then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub left: u32,
    pub top: u32,
    pub taken: (u32, u32),
    pub result: (u32, u32),
}

impl PictureSize {
    /// Nothing if the picture would stay as large as it is.
    pub fn cut(&self, (width, height): (u32, u32)) -> Option<Cut> {
        let cut = if self.cropped {
            cropped((width, height), (self.width, self.height))
        } else {
            let result = constrained((width, height), (self.width, self.height));
            Cut { left: 0, top: 0, taken: (width, height), result }
        };
        let alike = |one: u32, other: u32| one.abs_diff(other) <= 1;
        let same = alike(cut.result.0, width) && alike(cut.result.1, height);
        (!same).then_some(cut)
    }
}

fn cropped((width, height): (u32, u32), (wanted_width, wanted_height): (u32, u32)) -> Cut {
    let result = (wanted_width.min(width).max(1), wanted_height.min(height).max(1));
    // The greater of both ratios, so that nothing is left empty.
    let by_width = u64::from(result.0) * u64::from(height);
    let by_height = u64::from(result.1) * u64::from(width);
    let (num, den) = if by_width >= by_height { (result.0, width) } else { (result.1, height) };
    let taken = (scaled(result.0, den, num).min(width), scaled(result.1, den, num).min(height));
    let taken = (taken.0.max(1), taken.1.max(1));
    Cut { left: (width - taken.0) / 2, top: (height - taken.1) / 2, taken, result }
}

/// A number times a fraction, rounded.
fn scaled(number: u32, num: u32, den: u32) -> u32 {
    let (number, num, den) = (u64::from(number), u64::from(num), u64::from(den.max(1)));
    u32::try_from((2 * number * num + den) / (2 * den)).unwrap_or(u32::MAX)
}

/// What a picture measures within bounds, of which zero is none. It never grows.
pub fn constrained((width, height): (u32, u32), (max_width, max_height): (u32, u32)) -> (u32, u32) {
    let too_wide = max_width > 0 && width > max_width;
    let too_high = max_height > 0 && height > max_height;
    let of_width = if too_wide { (max_width, width) } else { (1, 1) };
    let of_height = if too_high { (max_height, height) } else { (1, 1) };
    let is_less = |one: (u32, u32), other: (u32, u32)| {
        u64::from(one.0) * u64::from(other.1) < u64::from(other.0) * u64::from(one.1)
    };
    let (smaller, larger) =
        if is_less(of_width, of_height) { (of_width, of_height) } else { (of_height, of_width) };
    let by = |ratio: (u32, u32)| {
        (scaled(width, ratio.0, ratio.1).max(1), scaled(height, ratio.0, ratio.1).max(1))
    };
    let larger = by(larger);
    let exceeds = larger.0 > max_width || larger.1 > max_height;
    let (mut new_width, mut new_height) = if exceeds { by(smaller) } else { larger };
    // A pixel that was lost by rounding.
    if too_wide && new_width + 1 == max_width {
        new_width = max_width;
    }
    if too_high && new_height + 1 == max_height {
        new_height = max_height;
    }
    (new_width, new_height)
}

/// Whether two forms show the same part of a picture, but for a pixel.
pub fn is_same_shape(one: (u32, u32), other: (u32, u32)) -> bool {
    let (larger, smaller) = if one.0 > other.0 { (one, other) } else { (other, one) };
    let fitted = constrained(larger, (smaller.0, 0));
    fitted.0.abs_diff(smaller.0) <= 1 && fitted.1.abs_diff(smaller.1) <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_fitted() {
        for (size, from, expected) in [
            (PictureSize::whole("", 300, 300), (640, 480), Some((300, 225))),
            (PictureSize::whole("", 600, 0), (640, 480), Some((600, 450))),
            (PictureSize::whole("", 1024, 1024), (1200, 800), Some((1024, 683))),
            (PictureSize::whole("", 768, 0), (1200, 800), Some((768, 512))),
            (PictureSize::whole("", 300, 300), (300, 500), Some((180, 300))),
            (PictureSize::whole("", 300, 300), (300, 300), None),
            (PictureSize::whole("", 600, 0), (300, 5000), None),
            (PictureSize::cropped("", 150, 150), (150, 150), None),
            (PictureSize::cropped("", 150, 150), (100, 400), Some((100, 150))),
            (PictureSize::cropped("", 300, 300), (300, 500), Some((300, 300))),
            (PictureSize::cropped("", 100, 100), (60_000, 1), Some((100, 1))),
        ] {
            assert_eq!(size.cut(from).map(|cut| cut.result), expected, "{size:?} {from:?}");
        }
        let cut = PictureSize::cropped("", 150, 150).cut((640, 480)).unwrap();
        assert_eq!((cut.left, cut.top, cut.taken), (80, 0, (480, 480)));
    }

    #[test]
    fn shapes_are_compared() {
        assert!(is_same_shape((640, 480), (300, 225)));
        assert!(is_same_shape((600, 450), (300, 225)));
        assert!(!is_same_shape((640, 480), (300, 300)));
        assert!(is_same_shape((150, 150), (100, 100)));
    }
}
