//! The dashboard of a fan: a summary of every area in one answer.
//!
//! Ranks are those of the boards in memory, read before the tables, so that the tables contain every event up to the
//! position of the ranks; a stream that continues from there misses nothing. Everything else is one state of the
//! database. Without boards in memory, ranks are read from the tables in the same transaction.

mod queries;

pub use queries::{Dashboard, OwnWheel};

use crate::App;
use crate::accounts::NotFound;
use queries::ReadDashboard;
use std::sync::Arc;
use std::time::Instant;
use terrace_kernel::{Failure, Outcome, UserId};

impl App {
    /// Reads the dashboard of a fan. While the boards are in memory, it takes one statement on PostgreSQL and at most 14 on
    /// SQLite. Writes nothing. Refused if the account is not active.
    pub async fn dashboard(&self, user: UserId) -> Outcome<Dashboard, NotFound> {
        let book = self.quest_book().await.map_err(Failure::Broken)?;
        let wheels = self.wheel_book().await.map_err(Failure::Broken)?;
        let begun = Instant::now();
        let mut publishes = false;
        loop {
            let now = self.boards_now(Some(user)).await;
            let shown = self.shown_board(now).await.map_err(Failure::Broken)?;
            let shown = shown.as_deref();
            let ranks = self.own_ranks(now, shown, user);
            let are_in_memory = ranks.is_some();
            let board = shown.map(|shown| (shown.season.id, shown.board.id));
            let (book, wheels) = (Arc::clone(&book), Arc::clone(&wheels));
            let found = if are_in_memory {
                self.query(ReadDashboard::<false, false> { user, book, wheels, board, ranks }).await?
            } else if publishes {
                self.query(ReadDashboard::<true, true> { user, book, wheels, board, ranks }).await?
            } else {
                self.query(ReadDashboard::<true, false> { user, book, wheels, board, ranks }).await?
            };
            match found {
                Some(found) if are_in_memory || self.serves_tables(shown, found.position) => {
                    return Ok(found);
                }
                Some(_) | None => publishes = self.waits_for_boards(begun).await,
            }
        }
    }
}
