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

/// Rows whose steps, or halves of them, have a sum in 32 bits whatever they are.
const ROWS_SUMMED_MAX: usize = 16_384;

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
    /// that of rows that have nothing. `count` of them are -1.
    pub(crate) fn masked_sum(&self, start: usize, mask: &[i32], count: i64) -> i64 {
        let starts = (start..).step_by(ROWS_SUMMED_MAX);
        let parts = starts.zip(mask.chunks(ROWS_SUMMED_MAX));
        let sum: i128 = parts.map(|(start, mask)| self.masked_steps(start, mask)).sum();
        let sum = i128::from(self.scale) * sum + i128::from(self.base) * i128::from(count);
        i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
    }

    /// The sum of the steps of at most [`ROWS_SUMMED_MAX`] rows.
    fn masked_steps(&self, start: usize, mask: &[i32]) -> i128 {
        macro_rules! masked {
            ($steps:expr) => {{
                let steps = $steps.get(start..).unwrap_or_default();
                steps.iter().zip(mask).map(|(step, mask)| i32::from(*step) & mask)
            }};
        }
        match &self.steps {
            Steps::Same(_) => 0,
            // So few steps of 16 bits have a sum in 32, which the processor adds several at a time.
            Steps::I8(steps) => masked!(steps).fold(0_i32, i32::wrapping_add).into(),
            Steps::I16(steps) => masked!(steps).fold(0_i32, i32::wrapping_add).into(),
            // And so have halves of wider ones.
            Steps::I32(steps) => {
                let (mut low, mut high) = (0_i32, 0_i32);
                for step in masked!(steps) {
                    low = low.wrapping_add(step & 0xFFFF);
                    high = high.wrapping_add(step >> 16);
                }
                i128::from(high) * 65_536 + i128::from(low)
            }
            Steps::I64(steps) => {
                let steps = steps.get(start..).unwrap_or_default();
                let masked = |(step, mask): (&i64, &i32)| i128::from(step & i64::from(*mask));
                steps.iter().zip(mask).map(masked).sum()
            }
        }
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
            Steps::I16(steps) => {
                let steps = steps.get(start..).unwrap_or_default();
                for (found, step) in found.iter_mut().zip(steps) {
                    let value = self.base.wrapping_add(self.scale.wrapping_mul((*step).into()));
                    *found = *step != i16::MIN && flag(value);
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
            ($steps:expr, $type:ty) => {{
                let rows = buffer.iter_mut().zip($steps.get(start..).unwrap_or_default());
                if let Ok(scale) = u32::try_from(scale) {
                    // Counted from the least step both factors have 32 bits and no sign, which the
                    // processor multiplies several at a time.
                    let least = i64::from(<$type>::MIN);
                    let origin = base.wrapping_add(i64::from(scale).wrapping_mul(least));
                    for (value, step) in rows {
                        let distance = u64::from(step.wrapping_sub(<$type>::MIN).cast_unsigned());
                        let wide = origin.wrapping_add_unsigned(distance * u64::from(scale));
                        *value = if distance == 0 { NOTHING } else { wide };
                    }
                } else {
                    for (value, step) in rows {
                        let wide = base.wrapping_add(scale.wrapping_mul(i64::from(*step)));
                        *value = if *step == <$type>::MIN { NOTHING } else { wide };
                    }
                }
            }};
        }
        match &self.steps {
            Steps::Same(_) => buffer.fill(base),
            Steps::I8(steps) => widen!(steps, i8),
            Steps::I16(steps) => widen!(steps, i16),
            Steps::I32(steps) => widen!(steps, i32),
            Steps::I64(steps) => {
                for (value, wide) in buffer.iter_mut().zip(steps.get(start..).unwrap_or_default()) {
                    *value = *wide;
                }
            }
        }
    }

    /// Reads numbers that are not below `from`, less `from`: numbers of a dictionary, or places.
    /// All are there, and below 2^32. They take half of the time of [`Column::decode`].
    pub(crate) fn codes(&self, start: usize, from: i64, buffer: &mut [u32]) {
        let base = low(self.base.wrapping_sub(from));
        let scale = low(self.scale);
        macro_rules! narrow {
            ($steps:expr) => {{
                let steps = $steps.get(start..).unwrap_or_default();
                let pairs = buffer.iter_mut().zip(steps);
                let steps = pairs.map(|(code, step)| (code, i32::from(*step).cast_unsigned()));
                if scale == 1 {
                    steps.for_each(|(code, step)| *code = base.wrapping_add(step));
                } else {
                    steps.for_each(|(code, step)| {
                        *code = base.wrapping_add(scale.wrapping_mul(step));
                    });
                }
            }};
        }
        match &self.steps {
            Steps::Same(_) => buffer.fill(base),
            Steps::I8(steps) => narrow!(steps),
            Steps::I16(steps) => narrow!(steps),
            Steps::I32(steps) => narrow!(steps),
            Steps::I64(steps) => {
                let steps = steps.get(start..).unwrap_or_default();
                for (code, step) in buffer.iter_mut().zip(steps) {
                    *code = low(step.wrapping_sub(from));
                }
            }
        }
    }

    /// Whether none of so many rows from `start` on is below 0.
    pub(crate) fn is_never_negative(&self, start: usize, rows: usize) -> bool {
        // The least step of a number that is not below 0; what stands for nothing is below it.
        let least = self.base.div_euclid(self.scale).saturating_neg();
        macro_rules! least {
            ($steps:expr, $type:ty) => {{
                let least = <$type>::try_from(least.max(i64::from(<$type>::MIN) + 1));
                let Ok(least) = least else { return false };
                let steps = $steps.get(start..).unwrap_or_default().iter().take(rows);
                !steps.fold(false, |is_any, step| is_any | (*step < least))
            }};
        }
        match &self.steps {
            Steps::Same(_) => rows == 0 || self.base >= 0,
            Steps::I8(steps) => least!(steps, i8),
            Steps::I16(steps) => least!(steps, i16),
            Steps::I32(steps) => least!(steps, i32),
            Steps::I64(steps) => {
                let mut steps = steps.get(start..).unwrap_or_default().iter().take(rows);
                steps.all(|value| *value >= 0)
            }
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<i64> {
        let mut values = vec![0; self.len()];
        self.decode(0, &mut values);
        values
    }
}

/// The lower half of a number.
fn low(value: i64) -> u32 {
    u32::try_from(value.cast_unsigned() & u64::from(u32::MAX)).unwrap_or_default()
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
mod tests;
