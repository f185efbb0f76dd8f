//! The bare limit of a write: what the service does for it in the database, without HTTP. On PostgreSQL its recorded
//! statements are replayed ([`crate::replay`]), on SQLite its commands run in this process ([`crate::commands`]).

use crate::commands::{Commands, Work};
use crate::replay::Replay;
use crate::scenarios::Plan;
use crate::world::{Kind, World};
use anyhow::Result;
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// One unit of work: requests to the service, and the identifiers in them that vary. The first occurs in every
/// transaction of the unit.
pub(crate) struct Unit {
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) varies: Vec<Uuid>,
}

/// The identifiers of a unit: of this run, connection and number.
pub(crate) type Vary = Arc<dyn Fn(u64, u64, u64) -> Vec<Uuid> + Send + Sync>;

/// A kind of write.
pub(crate) struct Write {
    /// Units to record, the second of which is replayed.
    pub(crate) units: [Unit; 2],
    pub(crate) vary: Vary,
    /// Executes the commands of a unit with these identifiers.
    pub(crate) work: Work,
    /// Counts rows, one of which each unit adds.
    pub(crate) rows: &'static str,
}

/// The bare limit of a kind of write on one database.
pub(crate) enum Bare {
    Commands(Box<Commands>),
    Replay(Box<Replay>),
}

impl Bare {
    pub(crate) fn new(copy: World, write: Write) -> Result<Self> {
        Ok(match copy.kind() {
            Kind::Sqlite => Self::Commands(Box::new(Commands::open(copy, write)?)),
            Kind::Postgres => Self::Replay(Box::new(Replay::record(copy, write)?)),
        })
    }

    /// Units per second of one run. Fails unless each unit wrote its row.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<f64> {
        match self {
            Self::Commands(commands) => commands.run(plan),
            Self::Replay(replay) => replay.run(plan),
        }
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Commands(_) => "commands without HTTP",
            Self::Replay(_) => "replay",
        }
    }

    /// What was recorded, for the details of a figure.
    pub(crate) fn recorded(&self) -> Value {
        match self {
            Self::Commands(_) => Value::Null,
            Self::Replay(replay) => replay.recorded(),
        }
    }
}
