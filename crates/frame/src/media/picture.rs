//! Decodes, cuts, turns and encodes pictures. **What it takes is bounded before it is taken**: the
//! measures of a picture are read first, and nothing is decoded that would be larger than allowed.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};

use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageEncoder as _, ImageFormat, ImageReader, Limits};

use super::file_type::{FileType, GIF, JPEG, PNG};
use super::sizes::Cut;

/// Pixels of a side. No codec of ours makes more.
const SIDE_MAX: u32 = 65_535;
const JPEG_QUALITY: u8 = 82;
/// Bytes of a profile of colours that is passed on to the smaller forms.
const PROFILE_BYTES_MAX: usize = 64 * 1024;

/// Why a picture cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    #[error("the file is not a valid image")]
    Broken,
    #[error("the image has too many pixels")]
    TooLarge,
    #[error("the image cannot be written")]
    NotWritten,
}

/// A picture in memory.
#[derive(Debug)]
pub struct Picture {
    pixels: DynamicImage,
    profile: Option<Vec<u8>>,
    /// Whether the file shows it turned or mirrored, which was undone.
    pub was_turned: bool,
}

fn format_of(kind: &'static FileType) -> ImageFormat {
    match kind {
        _ if kind == &JPEG => ImageFormat::Jpeg,
        _ if kind == &GIF => ImageFormat::Gif,
        _ if kind == &PNG => ImageFormat::Png,
        _ => ImageFormat::WebP,
    }
}

impl Picture {
    /// Decodes a file; of a moving picture, the first one.
    pub fn decode(
        file: File,
        kind: &'static FileType,
        bytes_max: u64,
    ) -> Result<Self, PictureError> {
        let mut limits = Limits::default();
        limits.max_image_width = Some(SIDE_MAX);
        limits.max_image_height = Some(SIDE_MAX);
        limits.max_alloc = Some(bytes_max);
        let mut reader = ImageReader::with_format(BufReader::new(file), format_of(kind));
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(|error| error_of(&error))?;
        let (width, height) = decoder.dimensions();
        if width == 0 || height == 0 {
            return Err(PictureError::Broken);
        }
        if decoder.total_bytes() > bytes_max {
            return Err(PictureError::TooLarge);
        }
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let profile = decoder.icc_profile().ok().flatten();
        let profile = profile.filter(|profile| profile.len() <= PROFILE_BYTES_MAX);
        let mut pixels = DynamicImage::from_decoder(decoder).map_err(|error| error_of(&error))?;
        pixels.apply_orientation(orientation);
        let was_turned = orientation != Orientation::NoTransforms;
        Ok(Self { pixels, profile, was_turned })
    }

    pub fn measures(&self) -> (u32, u32) {
        (self.pixels.width(), self.pixels.height())
    }

    /// A smaller form.
    #[must_use]
    pub fn cut(&self, cut: Cut) -> Self {
        let (width, height) = cut.result;
        let taken = self.pixels.crop_imm(cut.left, cut.top, cut.taken.0, cut.taken.1);
        self.with(taken.resize_exact(width, height, FilterType::CatmullRom))
    }

    /// The part of it that begins at a place and measures so much, within its bounds.
    #[must_use]
    pub fn part(&self, (left, top): (u32, u32), (width, height): (u32, u32)) -> Self {
        let (whole_width, whole_height) = self.measures();
        let (left, top) = (left.min(whole_width - 1), top.min(whole_height - 1));
        let width = width.clamp(1, whole_width - left);
        let height = height.clamp(1, whole_height - top);
        self.with(self.pixels.crop_imm(left, top, width, height))
    }

    #[must_use]
    pub fn flipped(&self, horizontally: bool, vertically: bool) -> Self {
        let mut pixels = self.pixels.clone();
        if horizontally {
            pixels = pixels.fliph();
        }
        if vertically {
            pixels = pixels.flipv();
        }
        self.with(pixels)
    }

    /// Turned clockwise.
    #[must_use]
    pub fn turned(&self, quarters: u32) -> Self {
        self.with(match quarters % 4 {
            1 => self.pixels.rotate90(),
            2 => self.pixels.rotate180(),
            3 => self.pixels.rotate270(),
            _ => self.pixels.clone(),
        })
    }

    fn with(&self, pixels: DynamicImage) -> Self {
        Self { pixels, profile: self.profile.clone(), was_turned: false }
    }

    /// Writes the picture as a file of this type, without anything but itself and its colours.
    pub fn encode(&self, kind: &'static FileType, file: File) -> Result<(), PictureError> {
        let mut out = BufWriter::new(file);
        let profile = self.profile.clone();
        let written = match format_of(kind) {
            ImageFormat::Jpeg => {
                let mut encoder = JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY);
                if let Some(profile) = profile {
                    let _ = encoder.set_icc_profile(profile);
                }
                match &self.pixels {
                    DynamicImage::ImageLuma8(pixels) => pixels.write_with_encoder(encoder),
                    pixels => pixels.to_rgb8().write_with_encoder(encoder),
                }
            }
            ImageFormat::Png => {
                let (level, filter) = (CompressionType::Default, PngFilter::Adaptive);
                let mut encoder = PngEncoder::new_with_quality(&mut out, level, filter);
                if let Some(profile) = profile {
                    let _ = encoder.set_icc_profile(profile);
                }
                self.pixels.write_with_encoder(encoder)
            }
            ImageFormat::Gif => {
                let mut encoder = GifEncoder::new(&mut out);
                encoder.encode_frame(image::Frame::new(self.pixels.to_rgba8()))
            }
            _ => {
                let encoder = WebPEncoder::new_lossless(&mut out);
                if self.pixels.color().has_alpha() {
                    self.pixels.to_rgba8().write_with_encoder(encoder)
                } else {
                    self.pixels.to_rgb8().write_with_encoder(encoder)
                }
            }
        };
        written.map_err(|_| PictureError::NotWritten)?;
        out.flush().map_err(|_| PictureError::NotWritten)
    }
}

fn error_of(error: &image::ImageError) -> PictureError {
    match error {
        image::ImageError::Limits(_) => PictureError::TooLarge,
        _ => PictureError::Broken,
    }
}
