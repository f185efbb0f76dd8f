//! The tables of all areas. Column types are native to each database: see [`crate::types`]. Each area declares its own
//! tables, and which tables of other areas they are joined with.

pub(crate) use crate::accounts::schema::*;
pub(crate) use crate::balances::schema::*;
pub(crate) use crate::boards::schema::*;
pub(crate) use crate::content::schema::*;
pub(crate) use crate::grants::schema::*;
pub(crate) use crate::graph::schema::*;
pub(crate) use crate::media::schema::*;
pub(crate) use crate::minting::schema::*;
pub(crate) use crate::notifications::schema::*;
pub(crate) use crate::ops::schema::*;
pub(crate) use crate::packs::schema::*;
pub(crate) use crate::payments::schema::*;
pub(crate) use crate::platform::schema::*;
pub(crate) use crate::push::schema::*;
pub(crate) use crate::quests::schema::*;
pub(crate) use crate::rewards::schema::*;
pub(crate) use crate::room::schema::*;
pub(crate) use crate::search::schema::*;
pub(crate) use crate::shop::schema::*;
pub(crate) use crate::teams::schema::*;
pub(crate) use crate::trends::schema::*;
pub(crate) use crate::trivia::schema::*;
pub(crate) use crate::wallets::schema::*;
pub(crate) use crate::wheels::schema::*;
