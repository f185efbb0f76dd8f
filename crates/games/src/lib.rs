//! Games: the rules of wheels and of trivia. Pure functions: no database, no web framework, no runtime.
//!
//! A [`Wheel`] has weighted segments; [`Wheel::spin`] draws one from the seeds of a spin, and [`verify_spin`] recomputes it
//! from its [`SpinProof`]. [`Wheel::probabilities`] returns the odds that are published, in the long run and with pity.
//!
//! A [`Round`] of trivia has questions, whose right options its [`Round::commitment`] fixes before it begins; [`verify_round`]
//! compares both afterwards. When live questions open and close is a function of the time ([`Round::live_time`]).
//!
//! ```
//! use terrace_draws::{ClientSeed, ServerSeed};
//! use terrace_games::{Segment, Wheel, WheelId, verify_spin};
//! use terrace_kernel::{Grant, Uuid};
//!
//! let segment = |key: &str, grant, weight| -> Result<Segment, Box<dyn std::error::Error>> {
//!     Ok(Segment { key: key.parse()?, label: key.to_owned(), grant, weight, stock: None, substitute: None })
//! };
//! let wheel = Wheel {
//!     id: WheelId::from_uuid(Uuid::from_u128(1)),
//!     key: "daily".parse()?,
//!     name: "Daily wheel".to_owned(),
//!     segments: vec![segment("coins", Grant::Coins(5), 1)?, segment("blank", Grant::Nothing, 3)?],
//!     price: None,
//!     has_free_spin: true,
//!     pity: None,
//!     daily_limit: None,
//!     opens_at: None,
//!     closes_at: None,
//!     is_retired: false,
//! };
//! assert_eq!(wheel.probabilities(), [0.25, 0.75]);
//!
//! // The hash of the server seed is published before the fan chooses the client seed.
//! let server_seed = ServerSeed::derived(&[7; 32], b"the first spin of a fan");
//! let client_seed: ClientSeed = "kop".parse()?;
//! let spun = wheel.spin(&server_seed, &client_seed, 1, 0);
//! let proof = wheel.proof(&server_seed, client_seed, 1, 0);
//! assert_eq!(verify_spin(&proof, &wheel.segments[spun.segment].key), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod ids;
mod ports;
mod trivia;
mod trivia_ports;
mod wheel;

pub use ids::{OptionId, QuestionId, RoundId, RoundKey, SegmentKey, SpinId, WheelId, WheelKey};
pub use ports::{Spin, SpinState, WheelRead, WheelWrite};
pub use trivia::{
    ANSWER_GRACE, ANSWER_TOLERANCE, CLOSING_DELAY, Choice, KnownRounds, MalformedScript, Milestone, Question,
    QuestionDraft, QuestionTime, Round, RoundDraft, RoundError, RoundFault, RoundMode, RoundProblem,
    RoundStatus, Rounds, Salt, Script, plan_rounds, verify_round,
};
pub use trivia_ports::{
    Answer, DuePlayer, GivenAnswer, Player, RoundList, RoundProgress, Standing, StandingKey, TriviaRead,
    TriviaWrite,
};
pub use wheel::{
    FreeSpin, KnownWheels, MOST_WEIGHT, MalformedSpinTable, Pity, Segment, SegmentDraft, SpinFault,
    SpinPrice, SpinProof, SpinRefusal, SpinTable, Spun, Wheel, WheelDraft, WheelError, WheelProblem, Wheels,
    may_spin, plan_wheels, verify_spin,
};
