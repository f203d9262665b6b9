//! Items that lie within each other: pages below pages, categories below categories.

use types::Result;

/// Levels that are followed upwards; more is taken for a circle.
const DEPTH_MAX: usize = 100;

/// Whether the item is the other one or lies somewhere within it. Zero is no item.
pub fn lies_within(
    id: i64,
    other: i64,
    mut parent_of: impl FnMut(i64) -> Result<i64>,
) -> Result<bool> {
    let mut current = id;
    for _ in 0..DEPTH_MAX {
        if current == 0 || other == 0 {
            return Ok(false);
        }
        if current == other {
            return Ok(true);
        }
        current = parent_of(current)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_seen() {
        // 3 lies in 2, 2 lies in 1; 8 and 9 lie in each other.
        let parent_of = |id| {
            Ok(match id {
                3 => 2,
                2 => 1,
                8 => 9,
                9 => 8,
                _ => 0,
            })
        };
        for (id, other, within) in
            [(3, 1, true), (3, 3, true), (1, 3, false), (0, 1, false), (8, 1, true)]
        {
            assert_eq!(lies_within(id, other, parent_of).unwrap(), within, "{id} in {other}");
        }
    }
}
