//! Columns of all widths give back what they were made of.

use super::*;

fn check(values: &[i64], bytes: usize) {
    let column = Column::new(values);
    assert_eq!(column.to_vec(), values);
    assert_eq!(column.bytes(), bytes, "{column:?}");
    assert_eq!(column.len(), values.len());
    assert_eq!(column.bounds(), bounds(values));
    assert_eq!(
        column.is_never_negative(0, values.len()),
        values.iter().all(|value| *value >= 0),
        "{values:?}"
    );
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

/// An order may have thousands of lines, and a block a thousand orders.
#[test]
fn very_many_rows_are_summed_as_they_are() {
    for (low, high, often) in [
        // Steps of 8, 16, 32 and 64 bits, most of them the least, the greatest, or one below 0.
        (0, 250, 250),
        (0, 65_000, 0),
        (0, 65_000, 65_000),
        (0, 150_000_000, 74_999_999),
        (0, i64::from(u32::MAX) - 1, 0),
        (0, i64::from(u32::MAX) - 1, i64::from(u32::MAX) - 1),
        (i64::MIN + 1, i64::MAX, 7),
    ] {
        let mut values = vec![often; 70_000];
        values.extend([low, high, 1]);
        let column = Column::new(&values);
        let mask: Vec<i32> = (0..values.len()).map(|row| -i32::from(row % 5 != 0)).collect();
        for start in [0, 9] {
            let rows = values.iter().skip(start).zip(&mask);
            let counted: Vec<i128> =
                rows.filter(|(_, mask)| **mask != 0).map(|(value, _)| i128::from(*value)).collect();
            let expected = counted.iter().sum::<i128>().clamp(i64::MIN.into(), i64::MAX.into());
            let count = i64::try_from(counted.len()).unwrap();
            let sum = column.masked_sum(start, &mask, count);
            assert_eq!(i128::from(sum), expected, "{low} to {high}, {often} from {start}");
        }
    }
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
fn numbers_below_0_are_noticed_where_they_are() {
    for scale in [1, 10_000, 10_000_000_019] {
        let value = |place: i64| match place {
            20 => -scale,
            30 => NOTHING,
            40 => 0,
            _ => place * scale,
        };
        let values: Vec<i64> = (0..50).map(value).collect();
        let column = Column::new(&values);
        let is_never_negative = |rows: Range<usize>| {
            let is = column.is_never_negative(rows.start, rows.len());
            let wide = Column::wide(values.clone());
            assert_eq!(wide.is_never_negative(rows.start, rows.len()), is);
            is
        };
        assert!(is_never_negative(0..20) && is_never_negative(21..30));
        assert!(is_never_negative(31..50) && !is_never_negative(0..21));
        assert!(!is_never_negative(25..31), "nothing is below all numbers");
    }
}

#[test]
fn codes_are_the_values() {
    let lists: [Vec<i64>; 5] = [
        vec![9; 50],
        (9..59).collect(),
        (9..59).map(|value| value * 5_000).collect(),
        (9..59).map(|value| value * 70_000_001).collect(),
        (9..59).map(|value| value * 70_000_001 + value % 2).collect(),
    ];
    for values in lists {
        for column in [Column::new(&values), Column::wide(values.clone())] {
            for from in [0, 9] {
                let mut codes = [0; 40];
                column.codes(10, from, &mut codes);
                let expected: Vec<i64> = values.iter().skip(10).map(|value| value - from).collect();
                assert_eq!(codes.map(i64::from).as_slice(), expected);
            }
        }
    }
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
        let count = mask.iter().filter(|mask| **mask != 0).count();
        assert_eq!(column.masked_sum(10, &mask, i64::try_from(count).unwrap()), sum);
        let flags: Vec<bool> = (0..30).map(|value| value % 2 == 0).collect();
        let mut found = vec![true; 40];
        column.flags(10, &flags, &mut found);
        for (found, value) in found.iter().zip(values.iter().skip(10)) {
            assert_eq!(*found, (0..30).contains(value) && value % 2 == 0, "{value}");
        }
    }
}
