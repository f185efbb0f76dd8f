//! Trivia over HTTP: rounds, their questions and answers, standings, proofs and the stream.

pub(crate) mod dto;
mod event_dto;
mod export;
mod lists;
mod preview;
mod refusals;
mod routes;
mod verify;

pub(crate) use export::EXPORT;
pub(crate) use preview::preview;
pub use verify::{RoundResponseFault, is_round_proof, verify_round_response};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::answer_question)
        .service(routes::next_question)
        .service(routes::get_round)
        .service(lists::list_rounds)
        .service(routes::join_round)
        .service(lists::read_standings)
        .service(routes::prove_round)
        .service(routes::stream_round)
        .service(lists::list_own_rounds);
}
