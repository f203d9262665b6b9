//! A session of the server, used from a thread that waits for it.
//!
//! Every wait is a round trip: **what is waited for together goes to the server together**, in the
//! order in which it is named, and its answers come back together.

use std::collections::VecDeque;
use std::future::{self, Future};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::Severity;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{
    AsyncMessage, CancelToken, Client, Config, Error, Row, RowStream, SimpleQueryMessage, Socket,
    Statement,
};

use crate::Val;

/// Moves everything along, and gives what the server says by itself.
type Driver = Box<dyn FnMut(&mut Context<'_>) -> Poll<Message>>;
type Message = Option<Result<AsyncMessage, Error>>;

/// How long it may take to tell the server that a session ends.
const GOODBYE_MAX: Duration = Duration::from_millis(20);

pub(super) struct Session {
    client: Client,
    wire: Wire,
}

/// What goes to and fro while somebody waits.
struct Wire {
    runtime: Runtime,
    poll: Driver,
    notifications: VecDeque<String>,
    has_warned: bool,
    /// How long an answer may take, if there is a limit: a server that stands still keeps its
    /// connections open.
    answer_max: Option<Duration>,
}

/// What a session waits with.
pub(super) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

impl Session {
    /// Connects, and runs the first script. None if that takes longer than `at_most`: a server may
    /// accept connections and hang.
    pub(super) fn connect<T>(
        runtime: Runtime,
        config: &Config,
        tls: T,
        (first, at_most): (&str, Duration),
    ) -> Result<Option<Self>, Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: 'static,
    {
        let connected =
            runtime.block_on(async { tokio::time::timeout(at_most, config.connect(tls)).await });
        let Ok(connected) = connected else { return Ok(None) };
        let (client, mut connection) = connected?;
        let poll = Box::new(move |context: &mut Context<'_>| connection.poll_message(context));
        let (notifications, has_warned, answer_max) = (VecDeque::new(), false, None);
        let mut wire = Wire { runtime, poll, notifications, has_warned, answer_max };
        let said = wire.wait_at_most(at_most, client.batch_execute(first))?;
        Ok(said.map(|()| Self { client, wire }))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn cancel_token(&self) -> CancelToken {
        self.client.cancel_token()
    }

    pub(super) fn prepare(&mut self, text: &str) -> Result<Statement, Error> {
        self.wire.wait(self.client.prepare(text))
    }

    /// Runs several statements without parameters.
    pub(super) fn script(&mut self, text: &str) -> Result<(), Error> {
        self.wire.wait(self.client.batch_execute(text))
    }

    /// [`Session::script`], and whether the server warned of something meanwhile.
    pub(super) fn script_warned(&mut self, text: &str) -> Result<bool, Error> {
        self.wire.has_warned = false;
        self.script(text)?;
        Ok(self.wire.has_warned)
    }

    /// From now on hangs up on a server that takes longer than this for an answer.
    pub(super) fn answer_within(&mut self, limit: Duration) {
        self.wire.answer_max = Some(limit);
    }

    /// The first column of the first row, as text.
    pub(super) fn value(&mut self, text: &str) -> Result<Option<String>, Error> {
        self.wire.wait(self.client.simple_query(text)).map(|messages| first_value(&messages))
    }

    /// The same; nothing if it takes longer, after which the session cannot be used.
    pub(super) fn value_within(
        &mut self,
        text: &str,
        at_most: Duration,
    ) -> Result<Option<String>, Error> {
        let messages = self.wire.wait_at_most(at_most, self.client.simple_query(text))?;
        Ok(messages.and_then(|messages| first_value(&messages)))
    }

    /// How many rows each of the statements changed.
    pub(super) fn execute(
        &mut self,
        statements: &[(Statement, Vec<Val<'_>>)],
    ) -> Result<Vec<Result<u64, Error>>, Error> {
        let client = &self.client;
        let all = join_all(
            statements
                .iter()
                .map(|(statement, params)| client.execute_raw(statement, params.iter().copied())),
        );
        self.wire.wait(async { Ok(all.await) })
    }

    /// Runs a query, after a script if there is one to run.
    pub(super) fn query(
        &mut self,
        first: Option<&str>,
        statement: &Statement,
        params: &[Val<'_>],
    ) -> Result<Pin<Box<RowStream>>, Error> {
        let client = &self.client;
        let script = async {
            match first {
                Some(text) => client.batch_execute(text).await,
                None => Ok(()),
            }
        };
        let query = client.query_raw(statement, params.iter().copied());
        let both = async {
            let (begun, rows) = futures_util::future::join(script, query).await;
            begun.and(rows)
        };
        self.wire.wait(both).map(Box::pin)
    }

    pub(super) fn next(&mut self, rows: &mut Pin<Box<RowStream>>) -> Result<Option<Row>, Error> {
        self.wire.wait(rows.try_next())
    }

    /// Waits for notifications, at most so long, and takes those that came.
    pub(super) fn notifications(&mut self, at_most: Duration) -> Result<Vec<String>, Error> {
        self.wire.listen(at_most)?;
        Ok(self.wire.notifications.drain(..).collect())
    }
}

fn first_value(messages: &[SimpleQueryMessage]) -> Option<String> {
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    })
}

/// The client is dropped before, and the server is told that the session ends.
impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.listen(GOODBYE_MAX);
    }
}

impl Wire {
    fn wait<T>(&mut self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut future = pin!(future);
        if let Some(limit) = self.answer_max {
            if let Some(done) = self.wait_at_most(limit, future.as_mut())? {
                return Ok(done);
            }
            // Without its connection the future ends with an error.
            self.poll = Box::new(|_| Poll::Ready(None));
        }
        self.drive(|context, _| future.as_mut().poll(context))
    }

    /// None if the time is over.
    fn wait_at_most<T>(
        &mut self,
        at_most: Duration,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, Error> {
        let (mut future, mut pause) =
            (pin!(future), pin!(async { tokio::time::sleep(at_most).await }));
        self.drive(|context, _| match future.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(done.map(Some)),
            Poll::Pending => pause.as_mut().poll(context).map(|()| Ok(None)),
        })
    }

    /// Waits until there are notifications or the session is over, at most so long.
    fn listen(&mut self, at_most: Duration) -> Result<(), Error> {
        let mut pause = pin!(async { tokio::time::sleep(at_most).await });
        self.drive(|context, has_news| {
            if has_news { Poll::Ready(Ok(())) } else { pause.as_mut().poll(context).map(Ok) }
        })
    }

    /// Moves everything along until `done`, which is told whether the session is over or there are
    /// notifications.
    fn drive<T>(
        &mut self,
        mut done: impl FnMut(&mut Context<'_>, bool) -> Poll<Result<T, Error>>,
    ) -> Result<T, Error> {
        let Self { runtime, poll, notifications, has_warned, .. } = self;
        runtime.block_on(future::poll_fn(|context| {
            let is_over = loop {
                match poll(context) {
                    Poll::Ready(Some(Ok(AsyncMessage::Notification(heard)))) => {
                        notifications.push_back(heard.payload().to_owned());
                    }
                    Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                        *has_warned |= notice.parsed_severity() == Some(Severity::Warning);
                    }
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                    Poll::Ready(None) => break true,
                    Poll::Pending => break false,
                }
            };
            done(context, is_over || !notifications.is_empty())
        }))
    }
}
