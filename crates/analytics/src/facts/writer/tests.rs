//! What holds of a writer's chunks whatever comes and goes, and what it costs.

use super::super::{file, layout};
use super::*;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i64::try_from(self.0 >> 33).unwrap() % end
    }
}

fn order(order_id: i64, created: i64) -> OrderFact {
    OrderFact {
        order_id,
        created: types::Timestamp::from_micros(created),
        customer_id: order_id % 11,
        lines: vec![LineFact { product_id: order_id % 3, ..LineFact::default() }],
        ..OrderFact::default()
    }
}

/// Orders with these ids, one each second.
fn orders(ids: std::ops::Range<i64>) -> Vec<OrderFact> {
    ids.map(|id| order(id, id * 1_000_000)).collect()
}

/// Makes a change, and checks all chunks that come of it. Returns how many rows were made anew.
fn change(writer: &mut Writer, deleted: &BTreeSet<i64>, facts: &[OrderFact]) -> usize {
    let before: HashSet<*const Chunk> = writer.chunks.iter().map(Arc::as_ptr).collect();
    let settled_before = writer.chunks[..writer.settled].to_vec();
    writer.apply(deleted, facts);
    let (settled, tail) = writer.chunks.split_at(writer.settled);
    assert_eq!(writer.chunks.len(), writer.returning.len());
    assert!(writer.chunks.iter().all(|chunk| (1..=writer.chunk_rows).contains(&chunk.len())));
    assert!(writer.chunks.is_sorted_by(|one, next| end(one) < start(next)));
    assert!(tail.len() <= layout::TAIL_CHUNKS_MAX);
    assert!(tail.iter().map(|chunk| chunk.len()).sum::<usize>() < writer.chunk_rows);
    let was_settled = |chunk: &Arc<Chunk>| settled_before.iter().any(|own| Arc::ptr_eq(own, chunk));
    assert!(!tail.iter().any(was_settled), "what was settled stays so until it is made anew");
    let least = writer.chunk_rows.div_ceil(4);
    assert!(settled.iter().all(|chunk| chunk.len() >= least));
    let made = writer.chunks.iter().filter(|chunk| !before.contains(&Arc::as_ptr(chunk)));
    made.map(|chunk| chunk.len()).sum()
}

#[test]
fn chunks_are_few_and_never_empty_whatever_comes_and_goes() {
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let full = usize::try_from([1, 2, 3, 10, 50][usize::try_from(seed % 5).unwrap()]).unwrap();
        let mut writer = Writer::default().with_chunks_of(full);
        let mut present: BTreeMap<i64, OrderFact> = BTreeMap::new();
        let mut now = 0;
        for turn in 0..80 {
            let mut deleted = BTreeSet::new();
            let mut facts = Vec::new();
            for _ in 0..dice.below(8) {
                let id = i64::try_from(present.len()).unwrap() + 1_000 * turn + dice.below(500);
                // Some are as old as the one before, and some are late.
                now += dice.below(3);
                let created = if dice.below(10) == 0 { dice.below(now + 1) } else { now };
                facts.push(order(id, created));
            }
            let chosen: Vec<i64> = present.keys().copied().collect();
            for id in chosen {
                match dice.below(100) {
                    0..3 => facts.push(present[&id].clone()),
                    3 => facts.push(order(id, dice.below(now + 1))),
                    4..8 => {}
                    8..50 if turn % 20 == 19 => {}
                    _ => continue,
                }
                deleted.insert(id);
            }
            facts.sort_by_key(|fact| fact.order_id);
            facts.dedup_by_key(|fact| fact.order_id);
            deleted.extend(facts.iter().map(|fact| fact.order_id));
            present.retain(|id, _| !deleted.contains(id));
            present.extend(facts.iter().map(|fact| (fact.order_id, fact.clone())));
            change(&mut writer, &deleted, &facts);
        }
        let all: Vec<OrderFact> = present.into_values().collect();
        let mut at_once = Writer::default().with_chunks_of(full);
        change(&mut at_once, &BTreeSet::new(), &all);
        assert!(writer.snapshot().order_facts().eq(at_once.snapshot().order_facts()));
    }
}

#[test]
fn new_orders_are_made_anew_a_few_times_only() {
    for (turn, most) in [(7, 6), (100, 4)] {
        let mut writer = Writer::default().with_chunks_of(1_024);
        let mut made = 0;
        for first in (0..20_000).step_by(turn) {
            let facts = orders(first..first + i64::try_from(turn).unwrap());
            let ids = facts.iter().map(|fact| fact.order_id).collect();
            made += change(&mut writer, &ids, &facts);
        }
        assert!(made <= most * 20_000, "{made} rows were made in turns of {turn}");
    }
}

#[test]
fn orders_that_come_at_once_fill_their_chunks() {
    let mut writer = Writer::default();
    for first in [0, 100_000] {
        let made = change(&mut writer, &BTreeSet::new(), &orders(first..first + 100_000));
        assert!(made < 100_000 + CHUNK_ROWS);
    }
    assert_eq!(writer.settled, 200_000 / CHUNK_ROWS);
    assert!(writer.chunks[..writer.settled].iter().all(|chunk| chunk.len() == CHUNK_ROWS));
    assert_eq!(writer.chunks.len(), writer.settled + 1);
}

#[test]
fn a_change_of_an_order_makes_its_chunk_anew_and_no_other() {
    let mut writer = Writer::default().with_chunks_of(100);
    change(&mut writer, &BTreeSet::new(), &orders(0..350));
    let lengths =
        |writer: &Writer| -> Vec<usize> { writer.chunks.iter().map(|chunk| chunk.len()).collect() };
    for (first, made) in [(50, 100), (250, 100), (320, 50)] {
        assert_eq!(change(&mut writer, &BTreeSet::from([first]), &orders(first..first + 1)), made);
        assert_eq!(lengths(&writer), [100, 100, 100, 50]);
        assert_eq!(writer.settled, 3);
    }
    // One too many in the middle leaves room for more in both halves.
    change(&mut writer, &BTreeSet::new(), &[order(1_000, 50_500_000)]);
    assert_eq!(lengths(&writer), [51, 50, 100, 100, 50]);
    // One too many in the last that is settled goes on into the tail.
    change(&mut writer, &BTreeSet::new(), &[order(1_001, 250_500_000)]);
    assert_eq!(lengths(&writer), [51, 50, 100, 100, 1, 50]);
    // A few rows that are left go on into the next chunk.
    change(&mut writer, &(10..51).chain([1_000]).collect(), &[]);
    assert_eq!(lengths(&writer), [59, 100, 100, 1, 50]);
}

#[test]
fn a_file_keeps_small_chunks_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts");
    let mut writer = Writer::default();
    for (first, next) in [(0, 20_000), (20_000, 20_100), (20_100, 20_110)] {
        change(&mut writer, &BTreeSet::new(), &orders(first..next));
    }
    file::write(&path, &writer, None).unwrap();
    let mut read = file::read(&path).unwrap().unwrap().writer;
    assert_eq!((read.chunks.len(), read.settled), (5, 2));
    assert_eq!(read.chunks, writer.chunks);
    assert!(read.snapshot().order_facts().eq(writer.snapshot().order_facts()));
    assert_eq!(change(&mut read, &BTreeSet::new(), &orders(20_110..20_120)), 10);
}
