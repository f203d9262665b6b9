//! The picture that stands for a missing one: drawn here, so that every site has it.

use image::{DynamicImage, Rgb, RgbImage};

use super::picture::Picture;

/// Pixels of a side.
pub const SIDE: u32 = 1200;

const PAPER: Rgb<u8> = Rgb([240, 241, 243]);
const INK: Rgb<u8> = Rgb([201, 205, 211]);

/// A landscape in a frame: a sun above two mountains.
pub fn draw() -> Picture {
    let pixels = RgbImage::from_fn(SIDE, SIDE, |x, y| if is_ink(x, y) { INK } else { PAPER });
    Picture::of(DynamicImage::ImageRgb8(pixels))
}

fn is_ink(x: u32, y: u32) -> bool {
    let inside = |edge: u32| {
        let range = edge..SIDE - edge;
        range.contains(&x) && (edge + 60..SIDE - edge - 60).contains(&y)
    };
    let is_frame = inside(240) && !inside(264);
    let is_sun = x.abs_diff(460).pow(2) + y.abs_diff(470).pow(2) < 60 * 60;
    // A mountain is as wide as it is high, on either side of its peak.
    let is_mountain = |peak: u32, top: u32| y >= top && x.abs_diff(peak) <= y - top;
    let is_ground = inside(300) && (is_mountain(520, 640) || is_mountain(760, 500));
    is_frame || is_sun || is_ground
}
