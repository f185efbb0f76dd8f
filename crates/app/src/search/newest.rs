//! The words of the newest posts as a live model.

use crate::platform::{EventEffects, Live, LiveModel, Loading};
use crate::store::LiveReadTx;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use terrace_kernel::{Event, EventKind, PostId, StoreError, TimeKey, Timestamp};
use terrace_social::search::{NewestPosts, NewestWords, PostText, Words, words};

/// The words of the newest posts.
pub(crate) struct Newest(NewestWords);

impl Newest {
    fn note(&mut self, (post, words): (TimeKey, Option<Words>)) {
        match words {
            Some(words) => self.0.put(post, &words),
            None => self.0.remove(post),
        }
    }
}

impl LiveModel for Newest {
    const NAME: &'static str = "newest_posts";
    const EXACT: bool = false;
    const FOLLOWS: &'static [EventKind] =
        &[EventKind::PostCreated, EventKind::PostEdited, EventKind::PostDeleted];
    type Draft = Mutex<NewestWords>;
    type Changes = Vec<(TimeKey, Option<Words>)>;

    fn load(draft: &Self::Draft, _lane: usize, tx: &mut dyn LiveReadTx) -> Result<Loading, StoreError> {
        let mut newest = Self(NewestWords::default());
        for post in tx.newest_texts(NewestWords::FIRST)? {
            newest.note(with_words(post));
        }
        *draft.lock().unwrap_or_else(PoisonError::into_inner) = newest.0;
        Ok(Loading::Whole)
    }

    fn finish(draft: &Self::Draft) -> Self {
        Self(std::mem::take(&mut *draft.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn look_up(tx: &mut dyn LiveReadTx, events: &[Event]) -> Result<EventEffects<Self::Changes>, StoreError> {
        let posts: BTreeSet<PostId> =
            events.iter().map(|event| PostId::from_uuid(event.what.subject)).collect();
        let texts = tx.texts_of(&posts.into_iter().collect::<Vec<_>>())?;
        Ok(EventEffects { changes: texts.into_iter().map(with_words).collect(), reload: false })
    }

    fn apply(&mut self, changes: Self::Changes) {
        for post in changes {
            self.note(post);
        }
    }
}

fn with_words((post, text): PostText) -> (TimeKey, Option<Words>) {
    (post, text.map(|text| words(&text)))
}

impl NewestPosts for Live<Newest> {
    fn containing(&self, words: &Words, until: Option<Timestamp>) -> Option<Vec<PostId>> {
        self.read(|newest| newest.0.containing(words, until)).flatten()
    }
}
