//! How far the facts in ClickHouse go. Each shard says it of its own rows, beside them, and what is
//! said is written after them: **a shard never claims what it does not have**.

use types::{Result, Timestamp};

use super::binary::{Decoder, Encoder};
use super::cluster::{Cluster, table};
use super::tables::{self, DOWNLOADS, ORDERS, PRODUCT_COLUMNS};

/// The columns of the table of states, besides its version.
const COLUMNS: [&str; 6] = [
    "generation Int64",
    "position Int64",
    "filled Int64",
    "last_download Int64",
    "written Int64",
    "mark String",
];

/// What [`State::filled`] is once all records are there.
pub const COMPLETE: i64 = i64::MAX;

/// The state of one set of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// said of tables that one of them does not have.
    pub fn states(&self) -> Result<Vec<State>> {
        let statement = "SELECT generation, position, filled, last_download, written, mark \
                         FROM feed_states FINAL WHERE deleted = 0 ORDER BY generation \
                         FORMAT RowBinary";
        let mut common: Option<Vec<State>> = None;
        for bytes in self.ask(statement)? {
            let mut decoder = Decoder::new(&bytes);
            let mut own = Vec::new();
            while !decoder.is_at_end() {
                own.push(State::decode(&mut decoder)?);
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
        let mut encoder = Encoder::default();
        state.encode(&mut encoder);
        encoder.unsigned(version);
        encoder.flag(is_deleted);
        let statement = "INSERT INTO feed_states (generation, position, filled, last_download, \
                         written, mark, version, deleted) FORMAT RowBinary";
        let row = (statement.to_owned(), encoder.into_bytes());
        self.send_each(&vec![vec![row]; self.shards()])
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
    pub(super) fn drop_tables(&self, generation: i64) -> Result<()> {
        for name in ["orders", "downloads", "products"] {
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
    fn encode(&self, encoder: &mut Encoder) {
        let written = self.written.as_micros();
        for number in [self.generation, self.position, self.filled, self.last_download, written] {
            encoder.number(number);
        }
        encoder.text(&self.mark);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            generation: decoder.number()?,
            position: decoder.number()?,
            filled: decoder.number()?,
            last_download: decoder.number()?,
            written: Timestamp::from_micros(decoder.number()?),
            mark: decoder.text()?.to_owned(),
        })
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
