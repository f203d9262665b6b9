//! Clusters that questions are put to: two servers of Debian's version, and the current version in
//! a Python process.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use analytics::clickhouse::{Cluster, Shard};
use types::{Error, Result};

pub(crate) use crate::shard_client::{cluster_at, cluster_of, shard_at};

/// Names the Python program that has the current version. `cargo xtask test` sets it.
const CURRENT: &str = "CHDB_PYTHON";

/// Two shards of Debian's version, for a test of its own.
pub(crate) fn debian() -> Arc<Cluster> {
    let shards = testkit::clickhouse::shared();
    cluster_at(&shards.urls(), &shards.database())
}

/// The current version, where it is installed: as one shard, or as several databases.
pub(crate) fn current(shards: usize) -> Option<Arc<Cluster>> {
    let python = std::env::var_os(CURRENT)?;
    let engine = Arc::new(Mutex::new(Engine::start(&python)));
    let shard = |number: usize| -> Box<dyn Shard> {
        Box::new(Current { engine: Arc::clone(&engine), database: format!("shard_{number}") })
    };
    Some(cluster_of((0..shards).map(shard).collect()))
}

/// A database of the current version.
#[derive(Debug)]
struct Current {
    engine: Arc<Mutex<Engine>>,
    database: String,
}

impl Shard for Current {
    fn prepare(&self) -> Result<()> {
        let statement = format!("CREATE DATABASE IF NOT EXISTS {}", self.database);
        self.engine.lock().unwrap().send("default", &statement, &[]).map(drop)
    }

    fn send(&self, statement: &str, body: &[u8]) -> Result<Vec<u8>> {
        self.engine.lock().unwrap().send(&self.database, statement, body)
    }
}

/// The process. It ends with this value.
#[derive(Debug)]
struct Engine {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Engine {
    fn start(python: &std::ffi::OsStr) -> Self {
        let mut command = Command::new(python);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn send(&mut self, database: &str, statement: &str, body: &[u8]) -> Result<Vec<u8>> {
        for part in [database.as_bytes(), statement.as_bytes(), body] {
            self.input.write_all(&u64::try_from(part.len()).unwrap().to_le_bytes()).unwrap();
            self.input.write_all(part).unwrap();
        }
        self.input.flush().unwrap();
        let (mut is_error, mut length) = ([0], [0; 8]);
        self.output.read_exact(&mut is_error).unwrap();
        self.output.read_exact(&mut length).unwrap();
        let mut answer = vec![0; usize::try_from(u64::from_le_bytes(length)).unwrap()];
        self.output.read_exact(&mut answer).unwrap();
        if is_error == [0] {
            return Ok(answer);
        }
        let cause = String::from_utf8_lossy(&answer).into_owned();
        Err(Error::internal("the statement failed").because(format!("{cause}\n{statement}")))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Carries out statements that come by the pipe. Rows to insert go by a file.
const PROGRAM: &str = r#"
import struct, sys, tempfile
from chdb import session
source, sink = sys.stdin.buffer, sys.stdout.buffer
engine = session.Session()
def part():
    head = source.read(8)
    if len(head) < 8:
        sys.exit()
    return source.read(struct.unpack("<Q", head)[0])
with tempfile.NamedTemporaryFile() as rows:
    while True:
        database, statement, body = part().decode(), part().decode(), part()
        try:
            engine.query("USE " + database)
            if body:
                rows.seek(0); rows.truncate(); rows.write(body); rows.flush()
                source_of_rows = "FROM INFILE '" + rows.name + "' FORMAT RowBinary"
                statement = statement.replace("FORMAT RowBinary", source_of_rows)
            reads = statement.endswith(" FORMAT RowBinary") and not body
            statement = statement.removesuffix(" FORMAT RowBinary") if reads else statement
            status, answer = 0, engine.query(statement, "RowBinary").bytes() or b""
        except Exception as error:
            status, answer = 1, str(error).encode()
        sink.write(bytes([status]) + struct.pack("<Q", len(answer)) + answer)
        sink.flush()
"#;
