//! How far the facts in ClickHouse go. Each shard says it of its own rows, beside them, and what is
//! said is written after them: **a shard never claims what it does not have**. It also says which
//! of the shards it is, so that addresses in another order are noticed.

use std::collections::BTreeSet;

use types::{Result, Timestamp};

use super::binary::{Decoder, Encoder};
use super::cluster::{Cluster, table};
use super::listing::number;
use super::tables::{self, DOWNLOADS, ORDERS, PRODUCT_COLUMNS};

/// The columns of the table of states, besides its version.
const COLUMNS: [&str; 7] = [
    "generation Int64",
    "shard Int64",
    "position Int64",
    "filled Int64",
    "last_download Int64",
    "written Int64",
    "mark String",
];

/// The tables of a generation.
const TABLES: [&str; 3] = ["orders", "downloads", "products"];

/// What [`State::filled`] is once all records are there.
pub const COMPLETE: i64 = i64::MAX;

/// The state of one set of tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Which tables it is about.
    pub generation: i64,
    /// The last event of the feed that is in the facts.
    pub position: i64,
    /// The last order that is in the facts while they are made of all records; [`COMPLETE`] when
    /// all are.
    pub filled: i64,
    pub last_download: i64,
    /// When this was written.
    pub written: Timestamp,
    /// What tells these facts from those of another database, of other rules or of other columns.
    pub mark: String,
}

impl State {
    pub fn is_complete(&self) -> bool {
        self.filled == COMPLETE
    }
}

impl Cluster {
    /// Makes the table of states on each shard. Without it nothing can be read.
    pub fn open(&self) -> Result<()> {
        self.prepare()?;
        let columns = COLUMNS.map(str::to_owned);
        self.ask(&tables::create("feed_states", &columns, "generation")).map(drop)
    }

    /// What all shards have in common, by generation: the least that one of them claims. Nothing is
    /// said of tables that one of them does not have, or has as another shard.
    pub fn states(&self) -> Result<Vec<State>> {
        let statement = "SELECT generation, shard, position, filled, last_download, written, mark \
                         FROM feed_states FINAL WHERE deleted = 0 ORDER BY generation \
                         FORMAT RowBinary";
        let mut common: Option<Vec<State>> = None;
        for (number, bytes) in (0_i64..).zip(self.ask(statement)?) {
            let mut decoder = Decoder::new(&bytes);
            let mut own = Vec::new();
            while !decoder.is_at_end() {
                let (shard, state) = State::decode(&mut decoder)?;
                own.extend((shard == number).then_some(state));
            }
            common = Some(match common {
                None => own,
                Some(others) => others.iter().filter_map(|other| other.least(&own)).collect(),
            });
        }
        Ok(common.unwrap_or_default())
    }

    /// Writes the state to each shard. The version says which of two is newer.
    pub(super) fn put_state(&self, state: &State, version: u64, is_deleted: bool) -> Result<()> {
        let statement = "INSERT INTO feed_states (generation, shard, position, filled, \
                         last_download, written, mark, version, deleted) FORMAT RowBinary";
        let rows = (0_i64..).take(self.shards()).map(|shard| {
            let mut encoder = Encoder::default();
            state.encode(shard, &mut encoder);
            encoder.unsigned(version);
            encoder.flag(is_deleted);
            vec![(statement.to_owned(), encoder.into_bytes())]
        });
        self.send_each(&rows.collect::<Vec<_>>())
    }

    /// A generation that no shard has tables of, or had.
    pub(crate) fn unused_generation(&self) -> Result<i64> {
        let statement = "SELECT max(generation) FROM feed_states";
        let used = self.read(statement, number)?;
        Ok(used.into_iter().max().unwrap_or_default() + 1)
    }

    /// Generations before this one of which some shard has tables.
    pub(crate) fn generations_before(&self, generation: i64) -> Result<BTreeSet<i64>> {
        let statement = format!(
            "SELECT generation FROM feed_states FINAL \
             WHERE deleted = 0 AND generation < {generation}"
        );
        Ok(self.read(&statement, number)?.into_iter().collect())
    }

    /// Whether all shards have the tables of this generation.
    pub(crate) fn has_tables(&self, generation: i64) -> Result<bool> {
        let names = TABLES.map(|name| format!("'{}'", table(name, generation))).join(", ");
        let statement = format!(
            "SELECT toInt64(count()) FROM system.tables \
             WHERE database = currentDatabase() AND name IN ({names})"
        );
        let all = i64::try_from(TABLES.len()).unwrap_or(i64::MAX);
        Ok(self.read(&statement, number)?.into_iter().all(|found| found == all))
    }

    /// The newest version of a state on any shard.
    pub(super) fn state_version(&self) -> Result<u64> {
        let statement = "SELECT max(version) FROM feed_states";
        let versions = self.read(statement, unsigned)?;
        Ok(versions.into_iter().max().unwrap_or_default())
    }

    /// Makes the tables of a generation.
    pub(super) fn create_tables(&self, generation: i64) -> Result<()> {
        let of = |name: &str| table(name, generation);
        let products = PRODUCT_COLUMNS.map(str::to_owned);
        self.ask(&tables::create(&of("orders"), &ORDERS.definitions(), "created, order_id"))?;
        self.ask(&tables::create(&of("downloads"), &DOWNLOADS.definitions(), "log_id"))?;
        self.ask(&tables::create(&of("products"), &products, "product_id")).map(drop)
    }

    /// Forgets the tables of a generation.
    pub(crate) fn drop_tables(&self, generation: i64) -> Result<()> {
        for name in TABLES {
            self.ask(&format!("DROP TABLE IF EXISTS {}", table(name, generation)))?;
        }
        Ok(())
    }
}

/// A row of one number that is never negative.
fn unsigned(decoder: &mut Decoder<'_>) -> Result<u64> {
    decoder.unsigned()
}

impl State {
    fn encode(&self, shard: i64, encoder: &mut Encoder) {
        let Self { generation, position, filled, last_download, written, mark } = self;
        let written = written.as_micros();
        for number in [*generation, shard, *position, *filled, *last_download, written] {
            encoder.number(number);
        }
        encoder.text(mark);
    }

    /// The number of the shard and the state.
    fn decode(decoder: &mut Decoder<'_>) -> Result<(i64, Self)> {
        let (generation, shard) = (decoder.number()?, decoder.number()?);
        let state = Self {
            generation,
            position: decoder.number()?,
            filled: decoder.number()?,
            last_download: decoder.number()?,
            written: Timestamp::from_micros(decoder.number()?),
            mark: decoder.text()?.to_owned(),
        };
        Ok((shard, state))
    }

    /// What this and the state of the same tables on another shard have in common.
    fn least(&self, others: &[Self]) -> Option<Self> {
        let other = others.iter().find(|other| other.generation == self.generation)?;
        Some(Self {
            generation: self.generation,
            position: self.position.min(other.position),
            filled: self.filled.min(other.filled),
            last_download: self.last_download.min(other.last_download),
            written: self.written.min(other.written),
            // The mark belongs to the position.
            mark: if self.position <= other.position { &self.mark } else { &other.mark }.clone(),
        })
    }
}
