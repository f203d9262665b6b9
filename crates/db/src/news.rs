//! What the nodes on one database tell each other: which tables were written to, and short messages
//! by topic. News travel beside the records and **may be lost**: when a connection breaks, what was
//! said meanwhile is not heard. So nothing may depend on them but how soon something is noticed,
//! and whoever hears again takes everything for changed.
//!
//! On SQLite there is one node, and nobody to tell.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A piece of news at most; PostgreSQL takes somewhat more.
const PIECE_BYTES_MAX: usize = 7_000;
/// Messages that wait to be told at most; beyond that the oldest are dropped.
const WAITING_MAX: usize = 4_096;
const TABLE: &str = "table";

/// Called with the text of a message, on the thread that hears the news: it must not wait.
type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// The news of one database, as one node hears and tells them.
pub(crate) struct News {
    /// By which a node knows what it said itself.
    node: String,
    is_shared: bool,
    waiting: Mutex<VecDeque<String>>,
    listeners: Mutex<Vec<(&'static str, Listener)>>,
    is_over: AtomicBool,
}

impl fmt::Debug for News {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("News")
    }
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard<'a> {
    Table(&'a str),
    Message { topic: &'a str, text: &'a str },
}

impl News {
    pub(crate) fn new(is_shared: bool) -> Self {
        // A new hasher is seeded at random.
        let node = format!("{:016x}", RandomState::new().build_hasher().finish());
        let (waiting, listeners) = (Mutex::default(), Mutex::default());
        Self { node, is_shared, waiting, listeners, is_over: AtomicBool::new(false) }
    }

    /// Has a message told to the other nodes within a moment. Neither may hold a line break.
    pub(crate) fn tell(&self, topic: &'static str, text: &str) {
        debug_assert!(!text.contains('\n') && !topic.contains([' ', '\n']), "one line a message");
        if !self.is_shared || text.len() > PIECE_BYTES_MAX / 2 {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= WAITING_MAX {
            waiting.pop_front();
        }
        waiting.push_back(format!("{topic} {text}"));
    }

    pub(crate) fn listen(&self, topic: &'static str, listener: Listener) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push((topic, listener));
    }

    /// The next piece to tell, if something waits.
    pub(crate) fn next_piece(&self) -> Option<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = self.node.clone();
        while let Some(line) = waiting.front()
            && piece.len() + line.len() < PIECE_BYTES_MAX
        {
            piece.push('\n');
            piece.push_str(line);
            waiting.pop_front();
        }
        (piece.len() > self.node.len()).then_some(piece)
    }

    /// The piece that says which tables were written to.
    pub(crate) fn piece_of_tables<'a>(&self, tables: impl Iterator<Item = &'a str>) -> String {
        tables.fold(self.node.clone(), |piece, table| format!("{piece}\n{TABLE} {table}"))
    }

    /// Hands messages to those who listen, and tables to `on_table`. What this node said itself is
    /// no news.
    pub(crate) fn hear(&self, piece: &str, mut on_table: impl FnMut(&str)) {
        let Some((node, lines)) = piece.split_once('\n') else { return };
        if node == self.node {
            return;
        }
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for heard in lines.lines().filter_map(read) {
            match heard {
                Heard::Table(name) => on_table(name),
                Heard::Message { topic, text } => {
                    let of_topic = listeners.iter().filter(|(wanted, _)| *wanted == topic);
                    of_topic.for_each(|(_, listener)| listener(text));
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

fn read(line: &str) -> Option<Heard<'_>> {
    let (topic, text) = line.split_once(' ')?;
    Some(if topic == TABLE { Heard::Table(text) } else { Heard::Message { topic, text } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard_by(news: &News, piece: &str) -> (Vec<String>, Vec<String>) {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&messages);
        news.listen("wrong", Arc::new(move |text| kept.lock().unwrap().push(text.to_owned())));
        let mut tables = Vec::new();
        news.hear(piece, |table| tables.push(table.to_owned()));
        let messages = messages.lock().unwrap().clone();
        (tables, messages)
    }

    #[test]
    fn others_hear_what_is_told_and_a_node_not_itself() {
        let (here, there) = (News::new(true), News::new(true));
        here.tell("wrong", "a key");
        here.tell("other", "nobody listens to this");
        let piece = here.next_piece().unwrap();
        assert_eq!(here.next_piece(), None);
        assert_eq!(heard_by(&there, &piece), (vec![], vec!["a key".to_owned()]));
        assert_eq!(heard_by(&here, &piece), (vec![], vec![]));
        let tables = here.piece_of_tables(["users", "isos"].into_iter());
        assert_eq!(heard_by(&there, &tables).0, ["users", "isos"]);
    }

    #[test]
    fn whoever_is_alone_tells_nobody_and_what_waits_is_bounded() {
        let alone = News::new(false);
        alone.tell("wrong", "a key");
        assert_eq!(alone.next_piece(), None);
        let shared = News::new(true);
        (0..WAITING_MAX * 2).for_each(|number| shared.tell("wrong", &number.to_string()));
        let pieces: Vec<String> = std::iter::from_fn(|| shared.next_piece()).collect();
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
        let lines: usize = pieces.iter().map(|piece| piece.lines().count() - 1).sum();
        assert_eq!(lines, WAITING_MAX);
    }
}
