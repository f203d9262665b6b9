//! Takes out of a picture's file what says where, when, by whom and with what it was taken, and
//! what follows its end. **The picture itself stays as it is, byte for byte.** Nothing is held in
//! memory but a piece at a time.

use std::io::{self, BufRead, Read as _, Seek, SeekFrom, Write};

use super::file_type::{FileType, GIF, JPEG, PNG, WEBP};

/// Pieces of a file at most; a picture has far fewer.
const PIECES_MAX: usize = 100_000;
const PNG_SIGNATURE_BYTES: u64 = 8;

/// Where a picture is copied to.
pub(crate) trait Output: Write + Seek {}

impl<T: Write + Seek> Output for T {}

/// Copies a picture without what is nobody's business. Says whether anything was left out; an error
/// of the kind [`io::ErrorKind::InvalidData`] or [`io::ErrorKind::UnexpectedEof`] is the file's.
pub(crate) fn copy(
    kind: &'static FileType,
    input: &mut dyn BufRead,
    mut output: &mut dyn Output,
) -> io::Result<bool> {
    let left_out = match kind {
        _ if kind == &JPEG => jpeg(input, &mut output)?,
        _ if kind == &PNG => png(input, &mut output)?,
        _ if kind == &GIF => gif(input, &mut output)?,
        _ if kind == &WEBP => return webp(input, output),
        _ => io::copy(input, &mut output).map(|_| false)?,
    };
    let follows = !input.fill_buf()?.is_empty();
    Ok(left_out || follows)
}

fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn bytes<const N: usize>(input: &mut dyn BufRead) -> io::Result<[u8; N]> {
    let mut read = [0; N];
    input.read_exact(&mut read)?;
    Ok(read)
}

fn pass(input: &mut dyn BufRead, output: &mut dyn Write, length: u64) -> io::Result<()> {
    let copied = io::copy(&mut input.take(length), output)?;
    if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn leave_out(input: &mut dyn BufRead, length: u64) -> io::Result<()> {
    pass(input, &mut io::sink(), length)
}

/// Segments up to the end of the picture. Those of applications but for colours and density go.
fn jpeg(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
    output.write_all(&bytes::<2>(input)?)?;
    let mut left_out = false;
    let mut met = None;
    for _ in 0..PIECES_MAX {
        let marker = match met.take() {
            Some(marker) => marker,
            None => jpeg_marker(input)?,
        };
        if matches!(marker, 0xe1 | 0xe3..=0xed | 0xef) {
            let length = jpeg_length(bytes::<2>(input)?)?;
            leave_out(input, length)?;
            left_out = true;
            continue;
        }
        output.write_all(&[0xff, marker])?;
        match marker {
            0xd9 => return Ok(left_out),
            // These stand alone.
            0x01 | 0xd0..=0xd7 => {}
            _ => {
                let length = bytes::<2>(input)?;
                output.write_all(&length)?;
                pass(input, output, jpeg_length(length)?)?;
            }
        }
        if marker == 0xda {
            met = Some(jpeg_scan(input, output)?);
        }
    }
    Err(broken("too many segments"))
}

fn jpeg_marker(input: &mut dyn BufRead) -> io::Result<u8> {
    if bytes::<1>(input)? != [0xff] {
        return Err(broken("no marker"));
    }
    loop {
        let [marker] = bytes::<1>(input)?;
        if marker != 0xff {
            return Ok(marker);
        }
    }
}

/// The length counts its own two bytes.
fn jpeg_length(length: [u8; 2]) -> io::Result<u64> {
    let length = u64::from(u16::from_be_bytes(length)).checked_sub(2);
    length.ok_or_else(|| broken("no length"))
}

/// Copies the coded picture up to the next marker, and returns that.
fn jpeg_scan(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<u8> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let place = buffer.iter().position(|byte| *byte == 0xff).unwrap_or(buffer.len());
        output.write_all(buffer.get(..place).unwrap_or_default())?;
        let is_whole = place == buffer.len();
        input.consume(place);
        if is_whole {
            continue;
        }
        let [_, mut marker] = bytes::<2>(input)?;
        while marker == 0xff {
            [marker] = bytes::<1>(input)?;
        }
        if marker != 0 && !matches!(marker, 0xd0..=0xd7) {
            return Ok(marker);
        }
        output.write_all(&[0xff, marker])?;
    }
}

/// Chunks up to the last one. Texts, times and what cameras add go.
fn png(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
    pass(input, output, PNG_SIGNATURE_BYTES)?;
    let mut left_out = false;
    for _ in 0..PIECES_MAX {
        let length = bytes::<4>(input)?;
        let name = bytes::<4>(input)?;
        // With the checksum behind it.
        let rest = u64::from(u32::from_be_bytes(length)) + 4;
        if matches!(&name, b"eXIf" | b"tEXt" | b"iTXt" | b"zTXt" | b"tIME") {
            leave_out(input, rest)?;
            left_out = true;
            continue;
        }
        output.write_all(&length)?;
        output.write_all(&name)?;
        pass(input, output, rest)?;
        if &name == b"IEND" {
            return Ok(left_out);
        }
    }
    Err(broken("too many chunks"))
}

/// Blocks up to the trailer. Comments go, and what applications add but for the number of loops.
fn gif(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
    let head = bytes::<13>(input)?;
    output.write_all(&head)?;
    let [.., flags, _, _] = head;
    pass(input, output, gif_colours(flags))?;
    let mut left_out = false;
    for _ in 0..PIECES_MAX {
        let [kind] = bytes::<1>(input)?;
        match kind {
            0x3b => {
                output.write_all(&[kind])?;
                return Ok(left_out);
            }
            0x2c => {
                let frame = bytes::<9>(input)?;
                output.write_all(&[kind])?;
                output.write_all(&frame)?;
                let [.., flags] = frame;
                // The least size of codes stands before the blocks.
                pass(input, output, gif_colours(flags) + 1)?;
                gif_blocks(input, output)?;
            }
            0x21 => {
                let [label] = bytes::<1>(input)?;
                if label == 0xff && gif_extension(input, output)? {
                    continue;
                }
                if matches!(label, 0xff | 0xfe) {
                    gif_blocks(input, &mut io::sink())?;
                    left_out = true;
                } else {
                    output.write_all(&[kind, label])?;
                    gif_blocks(input, output)?;
                }
            }
            _ => return Err(broken("no block")),
        }
    }
    Err(broken("too many blocks"))
}

/// Bytes of the table of colours that the flags speak of.
fn gif_colours(flags: u8) -> u64 {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Copies the extension of an application if it says how often the picture is repeated.
fn gif_extension(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<bool> {
    let [length] = bytes::<1>(input)?;
    let mut name = vec![0; usize::from(length)];
    input.read_exact(&mut name)?;
    if !name.starts_with(b"NETSCAPE2.0") {
        return Ok(false);
    }
    output.write_all(&[0x21, 0xff, length])?;
    output.write_all(&name)?;
    gif_blocks(input, output)?;
    Ok(true)
}

fn gif_blocks(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    loop {
        let [length] = bytes::<1>(input)?;
        output.write_all(&[length])?;
        if length == 0 {
            return Ok(());
        }
        pass(input, output, u64::from(length))?;
    }
}

/// Chunks up to the length that the file states. The length is written anew, and the flags that
/// speak of what is left out.
fn webp(input: &mut dyn BufRead, mut output: &mut dyn Output) -> io::Result<bool> {
    let [_, _, _, _, length @ .., _, _, _, _] = bytes::<12>(input)?;
    let length = u64::from(u32::from_le_bytes(length)).checked_sub(4);
    let mut rest = length.ok_or_else(|| broken("no length"))?;
    output.write_all(b"RIFF....WEBP")?;
    let mut left_out = false;
    let mut kept = 4_u64;
    while rest >= 8 {
        let name = bytes::<4>(input)?;
        let length = bytes::<4>(input)?;
        let size = u64::from(u32::from_le_bytes(length));
        let padded = size + size % 2;
        rest = rest.checked_sub(8 + padded).ok_or_else(|| broken("too long a chunk"))?;
        if matches!(&name, b"EXIF" | b"XMP ") {
            leave_out(input, padded)?;
            left_out = true;
            continue;
        }
        kept += 8 + padded;
        output.write_all(&name)?;
        output.write_all(&length)?;
        if &name == b"VP8X" && padded > 0 {
            let [flags] = bytes::<1>(input)?;
            output.write_all(&[flags & !0x0c])?;
            pass(input, &mut output, padded - 1)?;
        } else {
            pass(input, &mut output, padded)?;
        }
    }
    let length = u32::try_from(kept).map_err(|_| broken("too long"))?;
    output.seek(SeekFrom::Start(4))?;
    output.write_all(&length.to_le_bytes())?;
    output.seek(SeekFrom::End(0))?;
    Ok(left_out || rest > 0 || !input.fill_buf()?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(kind: &'static FileType, file: &[u8]) -> Option<(Vec<u8>, bool)> {
        let mut output = io::Cursor::new(Vec::new());
        let mut input = file;
        let changed = copy(kind, &mut input, &mut output).ok()?;
        Some((output.into_inner(), changed))
    }

    fn check(kind: &'static FileType, parts: &[(&[u8], bool)]) {
        let all: Vec<u8> = parts.iter().flat_map(|(part, _)| part.to_vec()).collect();
        let kept: Vec<u8> =
            parts.iter().filter(|(_, kept)| *kept).flat_map(|(part, _)| part.to_vec()).collect();
        assert_eq!(stripped(kind, &all), Some((kept.clone(), true)));
        assert_eq!(stripped(kind, &kept), Some((kept.clone(), false)));
        // Cut off anywhere it is no picture.
        for end in 0..kept.len() {
            assert_eq!(stripped(kind, &kept[..end]), None, "{end}");
        }
    }

    #[test]
    fn what_is_about_people_goes() {
        check(
            &JPEG,
            &[
                (b"\xff\xd8\xff\xe0\0\x03J", true),
                (b"\xff\xe1\0\x06Exif", false),
                (b"\xff\xfe\0\x03c", true),
                (b"\xff\xda\0\x03s\x01\xff\0\x02\xff\xd0\x03", true),
                (b"\xff\xed\0\x02", false),
                (b"\xff\xda\0\x02\x05\xff\xd9", true),
                (b"<?php", false),
            ],
        );
        check(
            &PNG,
            &[
                (b"\x89PNG\r\n\x1a\n\0\0\0\x01IHDRxCRC.", true),
                (b"\0\0\0\x03tEXtabcCRC.", false),
                (b"\0\0\0\0IENDCRC.", true),
                (b"more", false),
            ],
        );
        check(
            &GIF,
            &[
                (b"GIF89a\x01\0\x01\0\x80\0\0aaabbb", true),
                (b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", true),
                (b"\x21\xfe\x02hi\0", false),
                (b"\x21\xff\x0bXMP DataXMP\x01x\0", false),
                (b"\x21\xf9\x04....\0", true),
                (b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01x\0\x3b", true),
                (b"<script>", false),
            ],
        );
        let with = b"RIFF\x28\0\0\0WEBPVP8X\x01\0\0\0\x08\0EXIF\x03\0\0\0abc\0VP8 \x02\0\0\0xy";
        let without = b"RIFF\x18\0\0\0WEBPVP8X\x01\0\0\0\0\0VP8 \x02\0\0\0xy";
        assert_eq!(stripped(&WEBP, with), Some((without.to_vec(), true)));
        assert_eq!(stripped(&WEBP, without), Some((without.to_vec(), false)));
    }
}
