//! How the tables in this folder are laid out: the one description that the reader here and the
//! writer (`cargo xtask generate reference`) share.
//!
//! There are no headers and nothing is parsed at start. A `.bin` file is an array of records of
//! one width, numbers little-endian; a `.txt` file is sorted lines, each ended by `\n`, so that a
//! change of the data is readable in a diff.
//!
//! | File              | Record                                                               |
//! |-------------------|----------------------------------------------------------------------|
//! | `zip-present.bin` | block of [`ZIPS_PER_BLOCK`] ZIPs: `u16` ZIPs before it, one bit each |
//! | `zip-city.bin`    | per ZIP in use, in order: `u16` line number in `city.txt`            |
//! | `zip-state.bin`   | run of ZIPs in use in one state: `u16` first one, two letters        |
//! | `city.txt`        | the name of a city                                                   |
//! | `city-offset.bin` | `u32` offset in `city.txt` of every [`CITIES_PER_BLOCK`]th line      |
//! | `mcc.txt`         | code, [`KEY_END`], description                                       |
//! | `calling-code.txt`| code, [`KEY_END`], regions with blanks between, the main one first   |
//!
//! "ZIPs before it" and "first one" count the ZIPs in use only. In a block, ZIP `n` is bit `n % 8`
//! of byte `n / 8`, the lowest bit first. Neighbouring ZIPs share their state so often that a
//! hundred runs cover the country, and a city has many ZIPs: so neither is stored per ZIP.

/// How many ZIPs a block of `zip-present.bin` covers: those with the same first two digits.
pub const ZIPS_PER_BLOCK: usize = 1_000;

/// Width of a block of `zip-present.bin`: the count, then one bit per ZIP.
pub const ZIP_BLOCK_BYTES: usize = 2 + ZIPS_PER_BLOCK / 8;

/// How many lines of `city.txt` share one offset. More would save little and read more lines.
pub const CITIES_PER_BLOCK: usize = 16;

/// What stands between key and value on a line of `mcc.txt` and `calling-code.txt`.
pub const KEY_END: char = '\t';
