//! Compares the proof of a round with its commitment, from the text of a response alone.

use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;
use terrace_games::{Choice, Question, RoundFault, Script, verify_round};

/// Why a round could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum RoundResponseFault {
    /// The text is no response of `GET /api/trivia/{id}/proof`.
    #[error("this is not the proof of a round: {0}")]
    Malformed(String),
    /// The questions do not match the commitment.
    #[error(transparent)]
    Wrong(#[from] RoundFault),
}

#[derive(Deserialize)]
struct Response {
    commitment: String,
    salt: String,
    questions: Vec<ResponseQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseQuestion {
    id: String,
    text: String,
    image_url: Option<String>,
    options: Vec<ResponseOption>,
    correct_option_id: String,
}

#[derive(Deserialize)]
struct ResponseOption {
    id: String,
    text: String,
}

fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, RoundResponseFault> {
    text.parse().map_err(|error: T::Err| RoundResponseFault::Malformed(format!("{name}: {error}")))
}

impl ResponseQuestion {
    fn into_question(self) -> Result<Question, RoundResponseFault> {
        let option = |option: ResponseOption| Ok(Choice { id: read("id", &option.id)?, text: option.text });
        Ok(Question {
            id: read("id", &self.id)?,
            text: self.text,
            image_url: self.image_url,
            options: self.options.into_iter().map(option).collect::<Result<_, RoundResponseFault>>()?,
            right: read("correctOptionId", &self.correct_option_id)?,
        })
    }
}

/// Whether a text is meant as the proof of a round, as opposed to the response of an opening or a spin.
pub fn is_round_proof(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|answer| answer.get("commitment").is_some())
}

/// Compares the questions of a response with its commitment; returns the questions with the texts of their right options.
///
/// # Errors
///
/// If the text is no such response, or the questions have another commitment.
pub fn verify_round_response(text: &str) -> Result<Vec<(String, String)>, RoundResponseFault> {
    let response: Response =
        serde_json::from_str(text).map_err(|error| RoundResponseFault::Malformed(error.to_string()))?;
    let questions = response.questions.into_iter().map(ResponseQuestion::into_question);
    let script =
        Script { salt: read("salt", &response.salt)?, questions: questions.collect::<Result<_, _>>()? };
    verify_round(&script, &read("commitment", &response.commitment)?)?;
    let right = |question: Question| {
        let right = question.options.into_iter().find(|option| option.id == question.right);
        (question.text, right.map(|option| option.text).unwrap_or_default())
    };
    Ok(script.questions.into_iter().map(right).collect())
}
