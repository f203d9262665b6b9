//! What a block's rows are about, as numbers of a dictionary: each row's own, or all that its order
//! has.

use super::plan::Plan;
use super::select::{Block, place};
use super::{Subject, Table};
use crate::facts::chunk::{Children, coupon, line, order, tax};

/// What is counted as nothing.
const NOBODY: u32 = u32::MAX;

pub(super) enum Subjects {
    /// By the place of the row in its table.
    Units(Vec<u32>),
    /// By the place of the order: where its list begins, and all lists.
    Orders(Vec<usize>, Vec<u32>),
}

impl Subjects {
    pub(super) fn read(block: &Block<'_>, plan: &Plan<'_>, subject: Subject) -> Self {
        let names = &plan.facts.names;
        let (lines, coupons, taxes) =
            (&block.chunk.lines, &block.chunk.coupons, &block.chunk.taxes);
        let (mut codes, kinds) = match subject {
            Subject::Order => return Self::Units(Vec::new()),
            Subject::Customer => {
                let mut codes = Vec::new();
                block.order_codes(order::CUSTOMER, &mut codes);
                if plan.table == Table::Orders {
                    return Self::Units(codes);
                }
                return Self::Orders((0..=codes.len()).collect(), codes);
            }
            Subject::Product => (of(block, lines, line::GOODS), Some(&names.products.of)),
            Subject::Variation | Subject::VariationOrNone => {
                (of(block, lines, line::GOODS), Some(&names.variations.of))
            }
            Subject::Coupon => (of(block, coupons, coupon::COUPON), None),
            Subject::TaxRate => (of(block, taxes, tax::RATE), Some(&names.rate_ids.of)),
        };
        if let Some(kinds) = kinds {
            for code in &mut codes {
                *code = kinds.get(place(*code)).copied().unwrap_or_default();
            }
        }
        if subject == Subject::Variation {
            let none = names.variations.values.iter().position(|id| *id == 0);
            let none = none.and_then(|none| u32::try_from(none).ok());
            codes.iter_mut().filter(|code| Some(**code) == none).for_each(|code| *code = NOBODY);
        }
        match (subject, plan.table) {
            (Subject::Product | Subject::Variation | Subject::VariationOrNone, Table::Lines)
            | (Subject::Coupon, Table::Coupons)
            | (Subject::TaxRate, Table::Taxes) => Self::Units(codes),
            (Subject::Product | Subject::Variation | Subject::VariationOrNone, _) => {
                Self::Orders(starts(block, lines), codes)
            }
            (Subject::Coupon, _) => Self::Orders(starts(block, coupons), codes),
            _ => Self::Orders(starts(block, taxes), codes),
        }
    }

    pub(super) fn of(&self, unit: usize, row: usize) -> impl Iterator<Item = u32> {
        let codes = match self {
            Self::Units(codes) => codes.get(unit..=unit).unwrap_or_default(),
            Self::Orders(starts, codes) => {
                let at = |index: usize| starts.get(index).copied().unwrap_or_default();
                codes.get(at(row)..at(row + 1)).unwrap_or_default()
            }
        };
        codes.iter().copied().filter(|code| *code != NOBODY)
    }
}

fn of<const COLUMNS: usize>(
    block: &Block<'_>,
    children: &Children<COLUMNS>,
    column: usize,
) -> Vec<u32> {
    let mut codes = Vec::new();
    block.child_codes(children, column, &mut codes);
    codes
}

/// Where the children of each order of the block begin, and where those of the last end.
fn starts<const COLUMNS: usize>(block: &Block<'_>, children: &Children<COLUMNS>) -> Vec<usize> {
    let mut rows = Vec::new();
    block.child_rows(children, &mut rows);
    let mut starts = vec![0; block.len() + 1];
    for row in rows {
        if let Some(count) = starts.get_mut(place(row) + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts
}
