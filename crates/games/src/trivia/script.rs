//! The questions of a round as one text, whose digest is published before the round begins.

use crate::{OptionId, QuestionId};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use terrace_draws::{Digest, MalformedDigest};
use terrace_kernel::{hex, uuid_from_canonical};

/// Random bytes in the text of a round, so that the right options cannot be found by trying all combinations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 32]);

impl Salt {
    /// Wraps random bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(…)")
    }
}

impl FromStr for Salt {
    type Err = MalformedDigest;

    fn from_str(text: &str) -> Result<Self, MalformedDigest> {
        hex::read_32(text).map(Self).ok_or(MalformedDigest)
    }
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Random, so that it says nothing of the option.
    pub id: OptionId,
    /// One line of 1 to 120 characters.
    pub text: String,
}

/// A question with its options.
#[derive(Clone, PartialEq, Eq)]
pub struct Question {
    /// Identifies it.
    pub id: QuestionId,
    /// One line of 1 to 300 characters.
    pub text: String,
    /// The address of its picture.
    pub image_url: Option<String>,
    /// 2 to 6 options, in the order of their ids.
    pub options: Vec<Choice>,
    /// The right one.
    pub right: OptionId,
}

/// Without the right option, so that no log contains it.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("id", &self.id).field("text", &self.text).finish_non_exhaustive()
    }
}

impl Question {
    /// Whether the question has this option.
    pub fn has(&self, option: OptionId) -> bool {
        self.options.iter().any(|one| one.id == option)
    }
}

/// The questions of a round, with their right options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Random bytes.
    pub salt: Salt,
    /// The questions: of a live round in the order in which they open, of a solo round the pool.
    pub questions: Vec<Question>,
}

impl Script {
    /// The question with this id.
    pub fn question(&self, id: QuestionId) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// The questions as text, the input of the commitment: lines that end with `\n`, words separated by one space.
    ///
    /// ```text
    /// trivia-v1
    /// salt 00…ff                                         (64 hexadecimal digits)
    /// question 0190a6f2-7c1e-7abc-8def-0123456789ab      (each question in order)
    /// text Which year was the ground opened?
    /// image /content/pictures/5f…                        (only of a question with a picture)
    /// option 0190a6f2-7c1e-7abc-8def-0123456789ac 1892   (each option in the order of the ids)
    /// right 0190a6f2-7c1e-7abc-8def-0123456789ac
    /// ```
    pub fn canonical(&self) -> String {
        let mut text = format!("trivia-v1\nsalt {}\n", self.salt);
        for question in &self.questions {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "question {}\ntext {}", question.id, question.text);
            if let Some(image) = &question.image_url {
                let _ = writeln!(text, "image {image}");
            }
            for Choice { id, text: words } in &question.options {
                let _ = writeln!(text, "option {id} {words}");
            }
            let _ = writeln!(text, "right {}", question.right);
        }
        text
    }

    /// The SHA-256 of [`canonical`](Self::canonical).
    pub fn commitment(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

/// The text is not the canonical form of the questions of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the canonical text of the questions of a round")]
pub struct MalformedScript;

/// Parses [`Script::canonical`], and accepts no other form.
impl FromStr for Script {
    type Err = MalformedScript;

    fn from_str(text: &str) -> Result<Self, MalformedScript> {
        read(text).filter(|script| script.canonical() == text).ok_or(MalformedScript)
    }
}

fn read(text: &str) -> Option<Script> {
    let mut lines = text.strip_prefix("trivia-v1\n")?.lines();
    let salt = lines.next()?.strip_prefix("salt ")?.parse().ok()?;
    let mut questions: Vec<Question> = Vec::new();
    for line in lines {
        let (word, rest) = line.split_once(' ')?;
        if word == "question" {
            let id = uuid_from_canonical(rest).ok()?;
            let (text, options) = (String::new(), Vec::new());
            questions.push(Question { id: id.into(), text, image_url: None, options, right: id.into() });
            continue;
        }
        let question = questions.last_mut()?;
        match word {
            "text" => rest.clone_into(&mut question.text),
            "image" => question.image_url = Some(rest.to_owned()),
            "option" => {
                let (id, text) = rest.split_once(' ')?;
                let id = uuid_from_canonical(id).ok()?.into();
                question.options.push(Choice { id, text: text.to_owned() });
            }
            "right" => question.right = uuid_from_canonical(rest).ok()?.into(),
            _ => return None,
        }
    }
    Some(Script { salt, questions })
}

/// Why a proof does not open the commitment of its round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RoundFault {
    /// The questions have another digest.
    #[error("the questions do not have the published commitment")]
    Commitment,
    /// A right option is none of the question's.
    #[error("the right option of question {0} is none of its options")]
    Right(QuestionId),
    /// A text has line breaks, so that the canonical text could be read in two ways.
    #[error("a text of question {0} is not one line")]
    Line(QuestionId),
    /// An id occurs twice.
    #[error("two questions or options have the same id")]
    Twice,
}

/// Compares the questions of a round with the commitment. A proof cannot show when the commitment was published; who read
/// the round before its start knows.
pub fn verify_round(script: &Script, commitment: &Digest) -> Result<(), RoundFault> {
    let mut ids = BTreeSet::new();
    for question in &script.questions {
        if !question.has(question.right) {
            return Err(RoundFault::Right(question.id));
        }
        let texts = question.options.iter().map(|option| option.text.as_str());
        let mut texts = texts.chain([question.text.as_str()]).chain(question.image_url.as_deref());
        if texts.any(|text| text.contains('\n')) {
            return Err(RoundFault::Line(question.id));
        }
        let options = question.options.iter().map(|option| option.id.as_uuid());
        if !options.chain([question.id.as_uuid()]).all(|id| ids.insert(id)) {
            return Err(RoundFault::Twice);
        }
    }
    if script.commitment() == *commitment { Ok(()) } else { Err(RoundFault::Commitment) }
}
