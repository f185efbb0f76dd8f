//! Author cards of fans in memory, so that a page of a board needs no read of the database for its names.
//!
//! A card is removed when an event reports a change of its account, and read again when a page needs it.

use crate::App;
use crate::boards::queries::ReadNextCards;
use crate::store::into_infallible;
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};
use terrace_identity::{AccountSpan, AuthorCard};
use terrace_kernel::{MediaHash, StoreError, UserId, Uuid, num};
use tokio::sync::watch;

/// Number of tables. Each has its own lock, and grows alone, so that no reader waits while a million cards are moved.
const TABLES: usize = 64;
/// Maximum number of cards in a table: four million in all, some 60 bytes each. A full table starts anew.
const MOST: usize = 62_500;
/// Cards read at once when the cards are read ahead.
const PORTION: u32 = 4096;
/// How long the reader of cards waits after an error of the database, and between looks for newly loaded boards.
const PAUSE: Duration = Duration::from_secs(1);

/// The cards of active accounts, as many as were read.
pub(crate) struct Cards {
    tables: Vec<RwLock<Table>>,
    hasher: RandomState,
    /// Counts removals. A card that was read before a removal is not added after it.
    removals: AtomicU64,
}

impl Cards {
    pub(super) fn new() -> Self {
        Self {
            tables: (0..TABLES).map(|_| RwLock::default()).collect(),
            hasher: RandomState::new(),
            removals: AtomicU64::new(0),
        }
    }

    /// The current counter of removals. Call it before a read whose cards are passed to [`Cards::keep`].
    pub(super) fn since(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// The card of a fan, if it was read.
    pub(super) fn get(&self, user: UserId) -> Option<AuthorCard> {
        let (table, hash) = self.table_of(user)?;
        table.read().unwrap_or_else(PoisonError::into_inner).get(hash, user)
    }

    /// Adds a card, unless one was removed since the read began.
    pub(super) fn keep(&self, since: u64, card: &AuthorCard) {
        let Some((table, hash)) = self.table_of(card.id) else { return };
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        // A removal is counted before it waits for the lock: it either is seen here, or removes the card afterwards.
        if self.since() == since {
            table.remove(hash, card.id);
            table.add(hash, card, |id| self.hash(id));
        }
    }

    pub(super) fn forget(&self, user: UserId) {
        self.removals.fetch_add(1, Ordering::AcqRel);
        if let Some((table, hash)) = self.table_of(user) {
            table.write().unwrap_or_else(PoisonError::into_inner).remove(hash, user);
        }
    }

    fn hash(&self, user: UserId) -> u64 {
        self.hasher.hash_one(user)
    }

    fn table_of(&self, user: UserId) -> Option<(&RwLock<Table>, u64)> {
        let hash = self.hash(user);
        // A table uses the lowest and the highest bits.
        let table = self.tables.get(num::to_usize(hash >> 32) % TABLES)?;
        Some((table, hash))
    }
}

/// Cards as records that follow each other: the account's id, the lengths of both names, whether there is a picture,
/// the names, the hash of the picture.
#[derive(Default)]
struct Table {
    /// Where the record of each card begins.
    places: HashTable<u32>,
    records: Vec<u8>,
    /// Bytes of records that no place refers to.
    unused: usize,
}

impl Table {
    fn get(&self, hash: u64, user: UserId) -> Option<AuthorCard> {
        let place = self.places.find(hash, |place| id_at(&self.records, *place) == Some(user))?;
        decoded(self.records.get(num::to_usize(*place)..)?)
    }

    /// Adds a card that the table does not have. A card with longer names than the service accepts is left out.
    fn add(&mut self, hash: u64, card: &AuthorCard, hash_of: impl Fn(UserId) -> u64) {
        let length = |name: &str| u8::try_from(name.len());
        let (Ok(username), Ok(display_name)) = (length(&card.username), length(&card.display_name)) else {
            return;
        };
        if self.places.len() >= MOST {
            *self = Self::default();
        }
        let Ok(place) = u32::try_from(self.records.len()) else { return };
        self.records.extend_from_slice(card.id.as_uuid().as_bytes());
        self.records.extend([username, display_name, u8::from(card.picture.is_some())]);
        self.records.extend_from_slice(card.username.as_bytes());
        self.records.extend_from_slice(card.display_name.as_bytes());
        self.records.extend(card.picture.iter().flat_map(|picture| *picture.as_bytes()));
        let Self { places, records, .. } = self;
        places.insert_unique(hash, place, |place| id_at(records, *place).map_or(0, &hash_of));
    }

    fn remove(&mut self, hash: u64, user: UserId) {
        let Self { places, records, unused } = self;
        let found = places.find_entry(hash, |place| id_at(records, *place) == Some(user));
        let Ok(entry) = found else { return };
        let (place, _) = entry.remove();
        *unused += record_at(records, place).map_or(0, <[u8]>::len);
        if *unused > records.len() / 2 {
            self.compact();
        }
    }

    /// Moves the records that are in use next to each other.
    fn compact(&mut self) {
        let mut records = Vec::with_capacity(self.records.len() - self.unused);
        for place in &mut self.places {
            let moved = u32::try_from(records.len());
            if let (Ok(moved), Some(record)) = (moved, record_at(&self.records, *place)) {
                records.extend_from_slice(record);
                *place = moved;
            }
        }
        self.records = records;
        self.unused = 0;
    }
}

fn id_at(records: &[u8], place: u32) -> Option<UserId> {
    let id = records.get(num::to_usize(place)..)?.first_chunk()?;
    Some(UserId::from_uuid(Uuid::from_bytes(*id)))
}

/// The bytes of a record.
fn record_at(records: &[u8], place: u32) -> Option<&[u8]> {
    let record = records.get(num::to_usize(place)..)?;
    let [username, display_name, picture] = *record.get(size_of::<Uuid>()..)?.first_chunk()?;
    let picture = if picture == 0 { 0 } else { size_of::<MediaHash>() };
    record.get(..size_of::<Uuid>() + 3 + usize::from(username) + usize::from(display_name) + picture)
}

/// The card with whose record these bytes begin.
fn decoded(record: &[u8]) -> Option<AuthorCard> {
    let (id, record) = record.split_first_chunk()?;
    let ([username, display_name, picture], record) = record.split_first_chunk()?;
    let (username, record) = record.split_at_checked(usize::from(*username))?;
    let (display_name, record) = record.split_at_checked(usize::from(*display_name))?;
    let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.to_owned());
    Some(AuthorCard {
        id: UserId::from_uuid(Uuid::from_bytes(*id)),
        username: text(username)?,
        display_name: text(display_name)?,
        picture: if *picture == 0 { None } else { Some(MediaHash::from_bytes(*record.first_chunk()?)) },
    })
}

impl App {
    /// Reads the cards of all active accounts whenever the boards were loaded, until `stop` turns true. Pages read
    /// what is not there yet.
    pub(crate) async fn read_cards_ahead(&self, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            // An error means that the sender is gone.
            _ = stop.wait_for(|stop| *stop) => {}
            () = self.read_cards_of_each_load() => {}
        }
    }

    async fn read_cards_of_each_load(&self) {
        // Weak, so that the cards of boards that were replaced are freed.
        let mut read: Weak<Cards> = Weak::new();
        loop {
            let cards = self.ranks.read(|ranks| Arc::clone(ranks.cards()));
            match cards {
                Some(cards) if Weak::as_ptr(&read) != Arc::as_ptr(&cards) => {
                    match self.read_all_cards(&cards).await {
                        Ok(()) => read = Arc::downgrade(&cards),
                        Err(error) => {
                            log::warn!("the reader of author cards will retry: {error}");
                            tokio::time::sleep(PAUSE).await;
                        }
                    }
                }
                Some(_) => tokio::time::sleep(PAUSE).await,
                None => self.ranks.changes_within(PAUSE).await,
            }
        }
    }

    async fn read_all_cards(&self, cards: &Cards) -> Result<(), StoreError> {
        let begun = Instant::now();
        let left = Mutex::default();
        tokio::try_join!(
            self.read_cards_from_one_end(cards, &left, false),
            self.read_cards_from_one_end(cards, &left, true),
        )?;
        let took = begun.elapsed();
        metrics::histogram!("terrace_live_load_seconds", "model" => "cards").record(took.as_secs_f64());
        log::debug!("author cards were read in {took:.1?}");
        Ok(())
    }

    /// Reads cards until this reader and the one from the other end meet. `left` is the span that neither has read.
    async fn read_cards_from_one_end(
        &self,
        cards: &Cards,
        left: &Mutex<AccountSpan>,
        backwards: bool,
    ) -> Result<(), StoreError> {
        loop {
            let span = AccountSpan { backwards, ..*left.lock().unwrap_or_else(PoisonError::into_inner) };
            let since = cards.since();
            let read = into_infallible(self.query(ReadNextCards { span, limit: PORTION }).await)?;
            for card in &read {
                cards.keep(since, card);
            }
            let Some(last) = read.last() else { return Ok(()) };
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            *if backwards { &mut left.before } else { &mut left.after } = Some(last.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: u128, name: &str, has_picture: bool) -> AuthorCard {
        AuthorCard {
            id: UserId::from_uuid(Uuid::from_u128(number)),
            username: format!("fan{number}"),
            display_name: name.to_owned(),
            picture: has_picture.then(|| MediaHash::from_bytes([7; 32])),
        }
    }

    #[test]
    fn cards_come_back_as_they_were_kept() {
        let cards = Cards::new();
        let all: Vec<AuthorCard> = (0..5_000).map(|number| card(number, "Zoë ❤️", number % 3 == 0)).collect();
        for card in &all {
            cards.keep(cards.since(), card);
        }
        assert!(all.iter().all(|card| cards.get(card.id).as_ref() == Some(card)));
        assert_eq!(cards.get(card(5_000, "", false).id), None);
    }

    #[test]
    fn a_card_that_was_read_before_a_removal_is_not_kept() {
        let cards = Cards::new();
        let old = card(1, "before", false);
        let since = cards.since();
        cards.forget(old.id);
        cards.keep(since, &old);
        assert_eq!(cards.get(old.id), None);
        let new = card(1, "after", true);
        cards.keep(cards.since(), &new);
        assert_eq!(cards.get(old.id), Some(new));
    }

    #[test]
    fn changes_use_no_more_than_twice_the_memory() {
        let mut table = Table::default();
        let hash = |user: UserId| user.as_uuid().as_u64_pair().1;
        for round in 0..50 {
            for number in 0..100 {
                let card = card(number, &"x".repeat(round % 7 + 1), round % 2 == 0);
                table.remove(hash(card.id), card.id);
                table.add(hash(card.id), &card, hash);
                assert_eq!(table.get(hash(card.id), card.id), Some(card));
            }
        }
        assert_eq!(table.places.len(), 100);
        let used: usize =
            table.places.iter().filter_map(|place| record_at(&table.records, *place)).map(<[u8]>::len).sum();
        assert_eq!(used + table.unused, table.records.len());
        assert!(table.unused <= table.records.len() / 2 + 100);
    }

    #[test]
    fn a_full_table_starts_anew() {
        let mut table = Table::default();
        let hash = |user: UserId| user.as_uuid().as_u64_pair().1;
        let all = (0..=num::to_u64(MOST)).map(|number| card(number.into(), "x", false));
        for card in all {
            table.add(hash(card.id), &card, hash);
        }
        assert_eq!(table.places.len(), 1);
        let last = card(num::to_u64(MOST).into(), "x", false);
        assert_eq!(table.get(hash(last.id), last.id), Some(last));
    }

    #[test]
    fn a_name_that_is_too_long_for_a_record_is_left_out() {
        let cards = Cards::new();
        let long = card(1, &"x".repeat(256), false);
        cards.keep(cards.since(), &long);
        assert_eq!(cards.get(long.id), None);
    }
}
