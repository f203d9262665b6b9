//! The clients: any number of keep-alive connections, served by one thread.
//!
//! One thread and no library for HTTP, because the clients share the processors with the server
//! that they measure. **A refusal ends the benchmark**, since a fast refusal is no result; only an
//! answer that asks to try again is counted instead, as an onboarding that was not served.

mod client;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use mio::{Events, Poll, Token};
use serde_json::Value;
use testkit::http;

use crate::processes;
use crate::request::{self, Request};
use crate::statistics::{float, percentile};
use client::{Answer, Client};

/// Clients of the schedule; so many requests may be under way at once.
const SCHEDULE_CLIENTS: usize = 64;
/// A server that answers nobody for so long is broken.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How often the state of a file is asked for.
const FILE_POLL: Duration = Duration::from_millis(20);
/// A file that takes so long is stuck.
const FILE_TIME_MAX: Duration = Duration::from_mins(5);

/// When clients that send one request after the other stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Elapsed(Duration),
    Answered(usize),
}

/// What the clients saw.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Sorted.
    latencies: Vec<Duration>,
    elapsed: Duration,
    /// Answers that asked to try again.
    pub(crate) unserved: usize,
    /// Processor time of the clients.
    pub(crate) own_time: Duration,
}

impl Outcome {
    pub(crate) fn count(&self) -> usize {
        self.latencies.len()
    }

    /// Answers per second.
    pub(crate) fn rate(&self) -> f64 {
        float(self.count()) / self.elapsed.as_secs_f64()
    }

    /// The latency that `per_mille` of the answers did not exceed.
    pub(crate) fn latency(&self, per_mille: usize) -> Duration {
        percentile(&self.latencies, per_mille)
    }
}

/// Sends onboardings to a server, each with a number of its own.
#[derive(Debug)]
pub(crate) struct Load {
    address: SocketAddr,
    request: Request,
    sent: u64,
}

impl Load {
    pub(crate) fn new(url: &str, key: &str) -> Result<Self> {
        let authority = url.strip_prefix("http://").context("the server's URL is not http")?;
        let address = authority.parse().context("the server's URL has no address")?;
        Ok(Self { address, request: Request::new(authority, key), sent: 0 })
    }

    /// Begins with the number after this one, so that several may send to one database.
    pub(crate) fn numbered_after(self, sent: u64) -> Self {
        Self { sent, ..self }
    }

    /// Onboardings sent so far; they are numbered from 1 to this.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Each client sends its next request as soon as it has its answer.
    pub(crate) fn closed_loop(&mut self, clients: usize, until: Until) -> Result<Outcome> {
        let mut run = Run::start(self, clients)?;
        let is_over = |run: &Run<'_>| match until {
            Until::Elapsed(time) => run.started.elapsed() >= time,
            Until::Answered(count) => run.latencies.len() + run.under_way >= count,
        };
        for index in 0..clients {
            run.send(index, Instant::now())?;
        }
        while run.under_way > 0 {
            for index in run.wait(None)? {
                if !is_over(&run) {
                    run.send(index, Instant::now())?;
                }
            }
        }
        run.finish()
    }

    /// Uploads a file, and returns how many of its rows were onboarded in a second, from the first
    /// byte sent to the last row.
    pub(crate) fn file(&mut self, key: &str, rows: u64) -> Result<f64> {
        let first = self.sent + 1;
        self.sent += rows;
        let lines: Vec<String> = (first..=self.sent).map(request::row).collect();
        let content = lines.join("\n");
        let url = format!("http://{}", self.address);
        let authorization = format!("api-key {key}");
        let upload = http::Request::new("POST", "/v1/bulk/onboardings")
            .header("Authorization", &authorization)
            .header("Content-Type", "application/x-ndjson")
            .body(content);
        let started = Instant::now();
        let answer = http::send(&url, &upload)?;
        ensure!(answer.status == 200, "the file was rejected: {}", answer.text());
        let answer = answer.json()?;
        let bulk_id = answer.get("bulkId").and_then(Value::as_str).context("the file has no id")?;
        let path = format!("/v1/bulk/onboardings/{bulk_id}");
        loop {
            let state = http::get(&url, &path, &[("Authorization", &authorization)])?.json()?;
            if state.get("status").and_then(Value::as_str) == Some("done") {
                let succeeded = state.get("succeeded").and_then(Value::as_u64);
                ensure!(succeeded == Some(rows), "rows of the file were rejected: {state}");
                return Ok(float(usize::try_from(rows)?) / started.elapsed().as_secs_f64());
            }
            ensure!(started.elapsed() < FILE_TIME_MAX, "the file makes no progress: {state}");
            std::thread::sleep(FILE_POLL);
        }
    }

    /// Requests start at a fixed rate, whether others have been answered or not. Latencies count
    /// from the moment a request was due, so a server that falls behind cannot hide it.
    pub(crate) fn schedule(&mut self, per_second: u32, time: Duration) -> Result<Outcome> {
        let interval = Duration::from_secs(1) / per_second;
        let mut run = Run::start(self, SCHEDULE_CLIENTS)?;
        // In turns, for the server closes connections that are silent for long.
        let mut idle: VecDeque<usize> = (0..SCHEDULE_CLIENTS).collect();
        let mut due = run.started;
        let end = run.started + time;
        while due < end || run.under_way > 0 {
            while due < end && due <= Instant::now() {
                let Some(index) = idle.pop_front() else { break };
                run.send(index, due)?;
                due += interval;
            }
            let pause = due.saturating_duration_since(Instant::now());
            let may_send = due < end && !idle.is_empty();
            let answered = run.wait(may_send.then_some(pause))?;
            idle.extend(answered);
        }
        run.finish()
    }
}

/// One use of the clients.
struct Run<'load> {
    load: &'load mut Load,
    poll: Poll,
    events: Events,
    clients: Vec<Client>,
    latencies: Vec<Duration>,
    unserved: usize,
    under_way: usize,
    started: Instant,
    own_time: Duration,
}

impl<'load> Run<'load> {
    fn start(load: &'load mut Load, clients: usize) -> Result<Self> {
        let poll = Poll::new()?;
        let connect = |index| Client::connect(load.address, Token(index), poll.registry());
        let clients = (0..clients).map(connect).collect::<Result<_>>()?;
        Ok(Self {
            load,
            poll,
            events: Events::with_capacity(256),
            clients,
            latencies: Vec::new(),
            unserved: 0,
            under_way: 0,
            started: Instant::now(),
            own_time: processes::own_time()?,
        })
    }

    fn send(&mut self, index: usize, due: Instant) -> Result<()> {
        self.load.sent += 1;
        let request = self.load.request.numbered(self.load.sent);
        let client = self.clients.get_mut(index).context("client not found")?;
        client.send(request, due)?;
        self.under_way += 1;
        Ok(())
    }

    /// Waits until something happens or the time is over; returns the clients that have answers.
    fn wait(&mut self, time: Option<Duration>) -> Result<Vec<usize>> {
        self.poll.poll(&mut self.events, Some(time.unwrap_or(SILENCE_MAX)))?;
        ensure!(time.is_some() || !self.events.is_empty(), "no response within {SILENCE_MAX:?}");
        let mut answered = Vec::new();
        for event in &self.events {
            let Token(index) = event.token();
            let client = self.clients.get_mut(index).context("client not found")?;
            match client.receive()? {
                Answer::Incomplete => continue,
                Answer::Served(latency) => self.latencies.push(latency),
                Answer::TryAgain => self.unserved += 1,
            }
            self.under_way -= 1;
            answered.push(index);
        }
        Ok(answered)
    }

    fn finish(mut self) -> Result<Outcome> {
        let elapsed = self.started.elapsed();
        let own_time = processes::own_time()?.saturating_sub(self.own_time);
        self.latencies.sort_unstable();
        Ok(Outcome { latencies: self.latencies, elapsed, unserved: self.unserved, own_time })
    }
}
