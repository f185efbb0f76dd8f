//! Reads the transactions of a unit of work from what the service sent to PostgreSQL.

use super::relay::Piece;
use super::wire::{self, Message};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// How the transactions of commands begin.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// What a connection sends to execute one unit of work, which the service executed once.
pub(super) struct Recording {
    /// The round trips by which the connection starts and prepares the statements.
    pub(super) session: Vec<Vec<u8>>,
    /// The round trips of the transactions.
    pub(super) trips: Vec<Trip>,
    /// The identifiers that the service generated.
    pub(super) made: Vec<Uuid>,
    /// The SQL of the statements, in order.
    pub(super) sql: Vec<String>,
}

/// A round trip, and where it has the identifiers that vary.
pub(super) struct Trip {
    bytes: Vec<u8>,
    places: Vec<IdPosition>,
}

/// The position of an identifier in a round trip, and its position in the list of identifiers.
struct IdPosition {
    at: usize,
    id: usize,
    form: fn(Uuid) -> Vec<u8>,
}

/// The forms of an identifier in values: bytes, text with hyphens, and text without.
const FORMS: [fn(Uuid) -> Vec<u8>; 3] = [
    |id| id.as_bytes().to_vec(),
    |id| id.hyphenated().to_string().into_bytes(),
    |id| id.simple().to_string().into_bytes(),
];

impl Trip {
    fn new(bytes: Vec<u8>, ids: &[Uuid]) -> Self {
        let mut places = Vec::new();
        for (id, value) in ids.iter().enumerate() {
            for form in FORMS {
                let value = form(*value);
                let found = bytes.windows(value.len()).enumerate().filter(|(_, window)| *window == value);
                places.extend(found.map(|(at, _)| IdPosition { at, id, form }));
            }
        }
        Self { bytes, places }
    }

    /// Appends the round trip, with these identifiers in place of the recorded ones.
    pub(super) fn write(&self, ids: &[Uuid], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(&self.bytes);
        for IdPosition { at, id, form } in &self.places {
            let Some(value) = ids.get(*id).map(|id| form(*id)) else { continue };
            if let Some(place) = out.get_mut(start + at..start + at + value.len()) {
                place.copy_from_slice(&value);
            }
        }
    }
}

/// The messages of one transaction, and the number of its connection.
struct Transaction {
    connection: usize,
    messages: Vec<Message>,
}

impl Recording {
    /// Finds the first `count` committed transactions with all `given` identifiers. A job that reacts to the events of a
    /// unit may commit between its transactions: it has the fan's identifier, but not the key of the requests.
    /// Identifiers that were generated `during` the recording (in milliseconds) are those that the service made.
    pub(super) fn read(
        sent: &[Piece],
        given: &[Uuid],
        count: usize,
        during: RangeInclusive<u128>,
    ) -> Result<Self> {
        let messages = messages(sent)?;
        ensure!(!given.is_empty(), "no identifier is given");
        let mut transactions = transactions(&messages, given);
        ensure!(transactions.len() >= count, "{} of {count} transactions were recorded", transactions.len());
        transactions.truncate(count);
        let connection = transactions.first().context("nothing was recorded")?.connection;
        let mut recording =
            Self { session: session(&messages, connection), trips: vec![], made: vec![], sql: vec![] };
        let mut prepared = Prepared::of(&messages);
        let mut trips = Vec::new();
        for Transaction { connection, messages } in &transactions {
            for message in messages.iter().filter(|message| message.kind == Message::BIND) {
                let ids = message.values()?.into_iter().flat_map(wire::ids);
                let new =
                    ids.filter(|id| id.get_version_num() == 7 && during.contains(&(id.as_u128() >> 80)));
                recording.made.extend(new.filter(|id| !given.contains(id)));
            }
            trips.extend(prepared.trips(*connection, messages)?);
        }
        recording.made.sort_unstable();
        recording.made.dedup();
        recording.session.push(prepared.parse());
        recording.sql = prepared.executed;
        let ids = [given, &recording.made].concat();
        recording.trips = trips.into_iter().map(|bytes| Trip::new(bytes, &ids)).collect();
        Ok(recording)
    }
}

/// The messages of all connections in order, each with the number of its connection.
fn messages(sent: &[Piece]) -> Result<Vec<(usize, Message)>> {
    let mut connections: BTreeMap<usize, (Vec<u8>, bool)> = BTreeMap::new();
    let mut messages = Vec::new();
    for (number, bytes) in sent {
        let (rest, is_start) = connections.entry(*number).or_insert_with(|| (Vec::new(), true));
        rest.extend(bytes);
        while let Some(message) = Message::take(rest, *is_start)? {
            *is_start = message.asks_for_encryption();
            if !message.asks_for_encryption() {
                messages.push((*number, message));
            }
        }
    }
    Ok(messages)
}

/// The committed transactions of commands with each of these identifiers in a value.
fn transactions(messages: &[(usize, Message)], given: &[Uuid]) -> Vec<Transaction> {
    let has = |messages: &[Message], id: Uuid| {
        FORMS.map(|form| form(id)).iter().any(|form| {
            messages.iter().any(|message| message.content.windows(form.len()).any(|window| window == form))
        })
    };
    let (mut open, mut found) = (BTreeMap::new(), Vec::new());
    for (connection, message) in messages {
        let query = message.query().unwrap_or_default();
        if query == BEGIN {
            open.insert(*connection, Vec::new());
        }
        if query == ROLLBACK {
            open.remove(connection);
        }
        let Some(messages) = open.get_mut(connection) else { continue };
        messages.push(message.clone());
        if query.ends_with(COMMIT) {
            let messages = open.remove(connection).unwrap_or_default();
            if given.iter().all(|id| has(&messages, *id)) {
                found.push(Transaction { connection: *connection, messages });
            }
        }
    }
    found
}

/// How a connection started: its first message, and its settings.
fn session(messages: &[(usize, Message)], connection: usize) -> Vec<Vec<u8>> {
    let own = messages.iter().filter(|(number, _)| *number == connection).map(|(_, message)| message);
    let is_setting = |message: &&Message| {
        message.kind == Message::START || message.query().is_some_and(|query| query != BEGIN)
    };
    own.take_while(is_setting).map(|message| written(&[message])).collect()
}

fn written<'a>(messages: impl IntoIterator<Item = &'a &'a Message>) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages.into_iter().for_each(|message| message.write(&mut bytes));
    bytes
}

/// The prepared statements, by connection and name; those that are used, with names of their own.
struct Prepared<'a> {
    all: BTreeMap<(usize, &'a [u8]), &'a Message>,
    used: Vec<(&'a Message, String)>,
    executed: Vec<String>,
}

impl<'a> Prepared<'a> {
    fn of(messages: &'a [(usize, Message)]) -> Self {
        let named = messages.iter().filter(|(_, message)| message.kind == Message::PARSE);
        let all =
            named.filter_map(|(connection, message)| Some(((*connection, message.statement()?), message)));
        Self { all: all.collect(), used: Vec::new(), executed: Vec::new() }
    }

    /// The round trips of a transaction. Those that only prepare a statement with a name are left out.
    fn trips(&mut self, connection: usize, messages: &[Message]) -> Result<Vec<Vec<u8>>> {
        let mut trips = Vec::new();
        let ends = |message: &Message| [Message::SYNC, Message::QUERY].contains(&message.kind);
        for trip in messages.split_inclusive(ends) {
            let is_named = |message: &Message| message.statement().is_some_and(|name| !name.is_empty());
            if trip.iter().any(|message| message.kind == Message::PARSE && is_named(message)) {
                ensure!(
                    trip.iter().all(|message| message.kind != Message::BIND),
                    "a statement is prepared and executed in one round trip"
                );
                continue;
            }
            let mut bytes = Vec::new();
            for message in trip {
                self.executed.extend(message.query().map(str::to_owned));
                match message.statement().filter(|name| !name.is_empty()) {
                    Some(name) => message.rename(&self.name(connection, name)?)?.write(&mut bytes),
                    None => message.write(&mut bytes),
                }
                if message.kind == Message::PARSE {
                    self.executed.extend(sql(message));
                }
            }
            trips.push(bytes);
        }
        Ok(trips)
    }

    /// The new name of a statement that is executed.
    fn name(&mut self, connection: usize, name: &[u8]) -> Result<String> {
        let parse = *self.all.get(&(connection, name)).context("a statement was never prepared")?;
        self.executed.extend(sql(parse));
        if let Some((_, name)) = self.used.iter().find(|(used, _)| used.content == parse.content) {
            return Ok(name.clone());
        }
        let name = format!("replayed{}", self.used.len());
        self.used.push((parse, name.clone()));
        Ok(name)
    }

    /// One round trip that prepares what is used.
    fn parse(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in self.used.iter().filter_map(|(parse, name)| parse.rename(name).ok()) {
            message.write(&mut bytes);
        }
        Message::sync().write(&mut bytes);
        bytes
    }
}

/// The SQL of a statement that is prepared.
fn sql(parse: &Message) -> Option<String> {
    let text = parse.content.split(|byte| *byte == 0).nth(1)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAN: Uuid = Uuid::from_u128(5);
    /// Made by the service at the millisecond 9.
    const MADE: Uuid = Uuid::from_u128((9 << 80) | (7 << 76) | 1);

    fn piece(connection: usize, messages: &[(u8, &[u8])]) -> Piece {
        let mut bytes = Vec::new();
        for (kind, content) in messages {
            Message { kind: Some(*kind), content: content.to_vec() }.write(&mut bytes);
        }
        (connection, bytes)
    }

    fn start(connection: usize) -> Piece {
        let mut bytes = Vec::new();
        Message { kind: Message::START, content: b"start".to_vec() }.write(&mut bytes);
        (connection, bytes)
    }

    /// Executes the statement `s` with two identifiers in binary form and one as text.
    fn bind(fan: Uuid, made: Uuid) -> Vec<u8> {
        let text = format!("key:{fan}");
        let mut content = b"\0s\0\0\x01\0\x01\0\x03".to_vec();
        for value in [fan.as_bytes().as_slice(), made.as_bytes(), text.as_bytes()] {
            content.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
            content.extend(value);
        }
        content
    }

    fn query(text: &str) -> Vec<u8> {
        format!("{text}\0").into_bytes()
    }

    /// Another connection works in between, on the same fan, and rolls back.
    fn sent() -> Vec<Piece> {
        vec![
            start(0),
            piece(0, &[(b'Q', &query("SET jit = off"))]),
            start(1),
            piece(1, &[(b'Q', &query(BEGIN)), (b'B', &bind(FAN, MADE)), (b'S', b"")]),
            piece(0, &[(b'Q', &query(BEGIN)), (b'P', b"s\0INSERT\0\0\0"), (b'S', b"")]),
            piece(1, &[(b'Q', &query(ROLLBACK))]),
            piece(0, &[(b'B', &bind(FAN, MADE)), (b'E', b"\0"), (b'S', b"")]),
            piece(0, &[(b'Q', &query("SELECT 1; COMMIT"))]),
        ]
    }

    #[test]
    fn a_transaction_is_recorded_and_its_identifiers_are_replaced() {
        let recording = Recording::read(&sent(), &[FAN], 1, 8..=10).unwrap();
        assert_eq!(recording.made, [MADE]);
        assert_eq!(recording.sql, [BEGIN, "INSERT", "SELECT 1; COMMIT"]);
        // The start, the setting, and the preparation.
        assert_eq!(recording.session.len(), 3);
        assert_eq!(recording.trips.len(), 3);
        let (fan, made) = (Uuid::from_u128(6), Uuid::from_u128(7));
        let mut replayed = Vec::new();
        recording.trips[1].write(&[fan, made], &mut replayed);
        let bind = Message::take(&mut replayed, false).unwrap().unwrap();
        let text = format!("key:{fan}");
        assert_eq!(bind.values().unwrap(), [fan.as_bytes().as_slice(), made.as_bytes(), text.as_bytes()]);
        assert_eq!(bind.statement(), Some(&b"replayed0"[..]));
    }

    #[test]
    fn a_missing_transaction_is_an_error() {
        assert!(Recording::read(&sent(), &[FAN], 2, 8..=10).is_err());
        assert!(Recording::read(&sent(), &[Uuid::from_u128(8)], 1, 8..=10).is_err());
        // A job has the fan's identifier and not the other one.
        assert!(Recording::read(&sent(), &[FAN, Uuid::from_u128(8)], 1, 8..=10).is_err());
    }
}
