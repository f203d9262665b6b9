//! A column of a chunk: whole numbers in as few bytes as their spread allows.
//!
//! The numbers of a chunk are close together (dates of one day, ids in a row) or are multiples of
//! something (cents are 10,000 millionths), so each is kept as a small step from a base: value =
//! base + scale × step. A column whose values are all equal takes no bytes for them. **Reading is
//! by blocks**: [`Column::decode`] widens a run of rows into a buffer that stays in the processor's
//! nearest cache, and everything after it works on plain `i64`.

use std::ops::Range;

/// What stands for nothing in a column that may have nothing.
pub(crate) const NOTHING: i64 = i64::MIN;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    base: i64,
    scale: i64,
    pub(super) steps: Steps,
}

/// The steps, as narrow as possible. The least number of a type stands for [`NOTHING`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// So many rows with the value of the base.
    Same(usize),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    /// Not narrowed: the values themselves.
    I64(Vec<i64>),
}

impl Column {
    pub(crate) fn new(values: &[i64]) -> Self {
        narrowed(values).unwrap_or_else(|| Self::wide(values.to_vec()))
    }

    fn wide(values: Vec<i64>) -> Self {
        Self { base: 0, scale: 1, steps: Steps::I64(values) }
    }

    /// From its parts, as a file has them. None when they make no column.
    pub(super) fn of_parts(base: i64, scale: i64, steps: Steps) -> Option<Self> {
        (scale > 0).then_some(Self { base, scale, steps })
    }

    pub(super) fn parts(&self) -> (i64, i64, &Steps) {
        (self.base, self.scale, &self.steps)
    }

    pub(crate) fn len(&self) -> usize {
        match &self.steps {
            Steps::Same(rows) => *rows,
            Steps::I8(steps) => steps.len(),
            Steps::I16(steps) => steps.len(),
            Steps::I32(steps) => steps.len(),
            Steps::I64(steps) => steps.len(),
        }
    }

    /// Bytes that the values take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.steps {
            Steps::Same(_) => 0,
            Steps::I8(steps) => steps.len(),
            Steps::I16(steps) => steps.len() * 2,
            Steps::I32(steps) => steps.len() * 4,
            Steps::I64(steps) => steps.len() * 8,
        }
    }

    /// The sum of the rows from `start` on whose mask is -1; the mask of the others is 0, and so is
    /// that of rows that have nothing. There are at most 16,384 rows.
    pub(crate) fn masked_sum(&self, start: usize, mask: &[i32]) -> i64 {
        let rows = || i128::from(-mask.iter().fold(0_i32, |sum, mask| sum.wrapping_add(*mask)));
        // Halves of so few steps have sums in 32 bits, which the processor adds several at a time.
        macro_rules! sum {
            ($steps:expr) => {{
                let steps = $steps.get(start..).unwrap_or_default();
                let (mut low, mut high) = (0_i32, 0_i32);
                for (step, mask) in steps.iter().zip(mask) {
                    let step = i32::from(*step) & mask;
                    low = low.wrapping_add(step & 0xFFFF);
                    high = high.wrapping_add(step >> 16);
                }
                let sum = i64::from(high) * 65_536 + i64::from(low);
                i128::from(self.scale) * i128::from(sum) + i128::from(self.base) * rows()
            }};
        }
        let sum = match &self.steps {
            Steps::Same(_) => i128::from(self.base) * rows(),
            Steps::I8(steps) => sum!(steps),
            Steps::I16(steps) => sum!(steps),
            Steps::I32(steps) => sum!(steps),
            Steps::I64(steps) => {
                let steps = steps.get(start..).unwrap_or_default();
                let masked = |(step, mask): (&i64, &i32)| i128::from(step & i64::from(*mask));
                steps.iter().zip(mask).map(masked).sum()
            }
        };
        i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
    }

    /// Adds each row from `start` on to the sum of its cell.
    pub(crate) fn scatter(&self, start: usize, cells: &[u32], sums: &mut [i64]) {
        let (base, scale) = (self.base, self.scale);
        macro_rules! add {
            ($values:expr) => {
                for (value, cell) in $values.zip(cells) {
                    if let Some(sum) = usize::try_from(*cell).ok().and_then(|at| sums.get_mut(at)) {
                        *sum = sum.saturating_add(value);
                    }
                }
            };
        }
        let wide = |step: i64| base.wrapping_add(scale.wrapping_mul(step));
        match &self.steps {
            Steps::Same(_) => add!(std::iter::repeat(base)),
            Steps::I8(steps) => {
                add!(
                    steps.get(start..).unwrap_or_default().iter().map(|step| wide((*step).into()))
                );
            }
            Steps::I16(steps) => {
                add!(
                    steps.get(start..).unwrap_or_default().iter().map(|step| wide((*step).into()))
                );
            }
            Steps::I32(steps) => {
                add!(
                    steps.get(start..).unwrap_or_default().iter().map(|step| wide((*step).into()))
                );
            }
            Steps::I64(steps) => add!(steps.get(start..).unwrap_or_default().iter().copied()),
        }
    }

    /// For each row from `start` on, the flag that its value has in a list.
    pub(crate) fn flags(&self, start: usize, flags: &[bool], found: &mut [bool]) {
        let flag = |value: i64| {
            usize::try_from(value).ok().and_then(|place| flags.get(place)).copied().unwrap_or(false)
        };
        match &self.steps {
            Steps::Same(_) => found.fill(flag(self.base)),
            Steps::I8(steps) => {
                let steps = steps.get(start..).unwrap_or_default();
                found.fill(false);
                let wanted = (0_i64..).zip(flags).filter(|(_, flag)| **flag);
                for (value, _) in wanted {
                    // One pass for each of the few values that there are.
                    let Some(step) = self.step(value) else { continue };
                    for (found, own) in found.iter_mut().zip(steps) {
                        *found |= *own == step;
                    }
                }
            }
            _ => {
                let mut values = vec![0; found.len()];
                self.decode(start, &mut values);
                for (found, value) in found.iter_mut().zip(values) {
                    *found = flag(value);
                }
            }
        }
    }

    /// The step of a value, if it has one that is narrow enough.
    fn step(&self, value: i64) -> Option<i8> {
        let distance = value.checked_sub(self.base)?;
        let is_step = distance % self.scale == 0;
        i8::try_from(distance / self.scale).ok().filter(|step| is_step && *step != i8::MIN)
    }

    /// Leaves out rows from `start` on that have nothing.
    pub(crate) fn keep_known(&self, start: usize, passes: &mut [bool]) {
        macro_rules! keep {
            ($steps:expr, $least:expr) => {
                for (passes, step) in passes.iter_mut().zip($steps.get(start..).unwrap_or_default())
                {
                    *passes &= *step != $least;
                }
            };
        }
        match &self.steps {
            Steps::Same(_) if self.base == NOTHING => passes.fill(false),
            Steps::Same(_) => {}
            Steps::I8(steps) => keep!(steps, i8::MIN),
            Steps::I16(steps) => keep!(steps, i16::MIN),
            Steps::I32(steps) => keep!(steps, i32::MIN),
            Steps::I64(steps) => keep!(steps, NOTHING),
        }
    }

    /// The least and the greatest value; none where there is nothing.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        let wide = |step: i64| self.base.wrapping_add(self.scale.wrapping_mul(step));
        macro_rules! bounds {
            ($steps:expr, $least:expr) => {{
                let known = || $steps.iter().filter(|step| **step != $least);
                Some((wide(i64::from(*known().min()?)), wide(i64::from(*known().max()?))))
            }};
        }
        match &self.steps {
            Steps::Same(rows) => {
                (*rows > 0 && self.base != NOTHING).then_some((self.base, self.base))
            }
            Steps::I8(steps) => bounds!(steps, i8::MIN),
            Steps::I16(steps) => bounds!(steps, i16::MIN),
            Steps::I32(steps) => bounds!(steps, i32::MIN),
            Steps::I64(steps) => bounds(steps),
        }
    }

    pub(crate) fn get(&self, row: usize) -> i64 {
        let mut one = [0];
        self.decode(row, &mut one);
        let [value] = one;
        value
    }

    /// Where the value stands in these rows, in which values ascend.
    pub(crate) fn run_of(&self, value: i64, mut rows: Range<usize>) -> Range<usize> {
        let end = rows.end;
        while !rows.is_empty() {
            let middle = usize::midpoint(rows.start, rows.end);
            if self.get(middle) < value {
                rows.start = middle + 1;
            } else {
                rows.end = middle;
            }
        }
        let start = rows.start;
        let count = (start..end).take_while(|row| self.get(*row) == value).count();
        start..start + count
    }

    /// Reads as many rows from `start` on as the buffer holds. Rows beyond the end are not touched.
    pub(crate) fn decode(&self, start: usize, buffer: &mut [i64]) {
        let (base, scale) = (self.base, self.scale);
        macro_rules! widen {
            ($steps:expr, $least:expr) => {
                for (value, step) in buffer.iter_mut().zip($steps.get(start..).unwrap_or_default())
                {
                    let wide = base.wrapping_add(scale.wrapping_mul(i64::from(*step)));
                    *value = if *step == $least { NOTHING } else { wide };
                }
            };
        }
        match &self.steps {
            Steps::Same(_) => buffer.fill(base),
            Steps::I8(steps) => widen!(steps, i8::MIN),
            Steps::I16(steps) => widen!(steps, i16::MIN),
            Steps::I32(steps) => widen!(steps, i32::MIN),
            Steps::I64(steps) => {
                for (value, wide) in buffer.iter_mut().zip(steps.get(start..).unwrap_or_default()) {
                    *value = *wide;
                }
            }
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<i64> {
        let mut values = vec![0; self.len()];
        self.decode(0, &mut values);
        values
    }
}

fn bounds(values: &[i64]) -> Option<(i64, i64)> {
    let known = || values.iter().copied().filter(|value| *value != NOTHING);
    Some((known().min()?, known().max()?))
}

/// The column in its narrow form, if it has one.
fn narrowed(values: &[i64]) -> Option<Column> {
    let Some((least, greatest)) = bounds(values) else {
        return Some(Column { base: NOTHING, scale: 1, steps: Steps::Same(values.len()) });
    };
    let has_gaps = values.contains(&NOTHING);
    if least == greatest && !has_gaps {
        return Some(Column { base: least, scale: 1, steps: Steps::Same(values.len()) });
    }
    let spread = greatest.checked_sub(least)?;
    let mut scale = spread;
    for value in values.iter().filter(|value| **value != NOTHING) {
        scale = common_divisor(scale, value - least);
        if scale == 1 {
            break;
        }
    }
    let scale = scale.max(1);
    let half = spread / scale / 2 + 1;
    let base = least.checked_add(scale.checked_mul(half)?)?;
    macro_rules! steps {
        ($kind:ident, $type:ty) => {
            if half < i64::from(<$type>::MAX) {
                let step = |value: &i64| match *value {
                    NOTHING => <$type>::MIN,
                    value => <$type>::try_from((value - least) / scale - half).unwrap_or_default(),
                };
                let steps = Steps::$kind(values.iter().map(step).collect());
                return Some(Column { base, scale, steps });
            }
        };
    }
    steps!(I8, i8);
    steps!(I16, i16);
    steps!(I32, i32);
    None
}

fn common_divisor(mut first: i64, mut second: i64) -> i64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[i64], bytes: usize) {
        let column = Column::new(values);
        assert_eq!(column.to_vec(), values);
        assert_eq!(column.bytes(), bytes, "{column:?}");
        assert_eq!(column.len(), values.len());
        assert_eq!(column.bounds(), bounds(values));
        for (row, value) in values.iter().enumerate() {
            assert_eq!(column.get(row), *value);
        }
    }

    #[test]
    fn columns_are_as_narrow_as_they_can_be() {
        let cents = |cents: i64| cents * 10_000;
        check(&[], 0);
        check(&[7, 7, 7], 0);
        check(&[NOTHING, NOTHING], 0);
        check(&[0, 250], 2);
        check(&[NOTHING, 5], 2);
        check(&[0, 300], 2);
        check(&[0, 1, 300], 6);
        check(&[cents(0), cents(99), cents(120)], 3);
        check(&[cents(0), cents(1), cents(9_999_999)], 12);
        check(&[1, 2, 5_000_000_000_000], 24);
        check(&[i64::MIN + 1, i64::MAX], 16);
        check(&[NOTHING, i64::MAX, i64::MAX - 1], 3);
        let day = 1_700_000_000_000_000;
        check(&[day, day + 1_000_000, day + 86_399_000_000], 12);
    }

    #[test]
    fn a_block_is_read_from_anywhere() {
        let values: Vec<i64> = (0..5000).map(|value| value * 7 - 9_000).collect();
        let column = Column::new(&values);
        let mut block = [0; 100];
        column.decode(4_900, &mut block);
        assert_eq!(block.as_slice(), values.get(4_900..).unwrap_or_default());
        column.decode(9_999, &mut block);
    }

    #[test]
    fn sums_and_flags_are_those_of_the_values() {
        let lists: [Vec<i64>; 5] = [
            vec![7; 50],
            (0..50).collect(),
            (0..50).map(|value| value * 30_000 - 9_000).collect(),
            (0..50).map(|value| value * 10_000_000_019).collect(),
            vec![i64::MAX - 1; 50],
        ];
        for values in lists {
            let column = Column::new(&values);
            let mask: Vec<i32> = (0..40).map(|row| if row % 3 == 0 { -1 } else { 0 }).collect();
            let chosen = values.iter().skip(10).zip(&mask).filter(|(_, mask)| **mask != 0);
            let sum: i128 = chosen.map(|(value, _)| i128::from(*value)).sum();
            let sum = i64::try_from(sum).unwrap_or(i64::MAX);
            assert_eq!(column.masked_sum(10, &mask), sum);
            let flags: Vec<bool> = (0..30).map(|value| value % 2 == 0).collect();
            let mut found = vec![true; 40];
            column.flags(10, &flags, &mut found);
            for (found, value) in found.iter().zip(values.iter().skip(10)) {
                assert_eq!(*found, (0..30).contains(value) && value % 2 == 0, "{value}");
            }
        }
    }
}
