//! The names of channels: the parts that a client can ask for in the combined stream.

use crate::error::{ApiError, Code};
use crate::streams::view::Part;
use std::fmt;
use terrace_games::RoundId;
use terrace_identity::Viewer;
use terrace_kernel::{MalformedId, TeamId};
use terrace_scoring::BoardId;

/// Maximum number of channels of a stream.
const MOST: usize = 32;

/// The parameter with the channels.
const POINTER: &str = "/channels";

/// A channel as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Room,
    Following,
    Team(TeamId),
    GlobalBoard,
    Board(BoardId),
    Round(RoundId),
    Me,
}

/// The parts with the names in `text`, which are separated by commas.
pub(super) fn parts(text: &str, viewer: Option<&Viewer>) -> Result<Vec<Part>, ApiError> {
    let channels = channels(text).map_err(|detail| ApiError::invalid_part(POINTER, detail))?;
    channels.into_iter().map(|channel| part(channel, viewer)).collect()
}

fn channels(text: &str) -> Result<Vec<Channel>, String> {
    let mut channels = Vec::new();
    for name in text.split(',') {
        if channels.len() == MOST {
            return Err(format!("more than {MOST} channels"));
        }
        let channel = channel(name)?;
        if channels.contains(&channel) {
            return Err(format!("{name} is there twice"));
        }
        channels.push(channel);
    }
    Ok(channels)
}

fn channel(name: &str) -> Result<Channel, String> {
    let id = |error: MalformedId| error.to_string();
    match name {
        "" => Err("an empty channel".to_owned()),
        "room" => Ok(Channel::Room),
        "room:following" => Ok(Channel::Following),
        "board" => Ok(Channel::GlobalBoard),
        "me" => Ok(Channel::Me),
        _ => {
            if let Some(team) = name.strip_prefix("room:team:") {
                team.parse().map(Channel::Team).map_err(id)
            } else if let Some(board) = name.strip_prefix("board:") {
                board.parse().map(Channel::Board).map_err(id)
            } else if let Some(round) = name.strip_prefix("trivia:") {
                round.parse().map(Channel::Round).map_err(id)
            } else {
                Err("a channel is room, room:following, room:team:<id>, board, board:<id>, trivia:<id> or me"
                    .to_owned())
            }
        }
    }
}

fn part(channel: Channel, viewer: Option<&Viewer>) -> Result<Part, ApiError> {
    let signed_in = || viewer.ok_or(ApiError::from(Code::AuthenticationRequired));
    Ok(match channel {
        Channel::Room => Part::All,
        Channel::Following => signed_in().map(|_| Part::Following)?,
        Channel::Team(team) => Part::Team(team),
        Channel::GlobalBoard => Part::GlobalBoard,
        Channel::Board(board) => Part::Board(board),
        Channel::Round(round) => Part::Round(round),
        Channel::Me => Part::Own(signed_in()?.user_id),
    })
}

/// The name of the channel.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("room"),
            // Only the stream of the locker room carries it.
            Self::OwnTeams => f.write_str("room:teams"),
            Self::Following => f.write_str("room:following"),
            Self::Team(team) => write!(f, "room:team:{team}"),
            Self::GlobalBoard => f.write_str("board"),
            Self::Board(board) => write!(f, "board:{board}"),
            Self::Round(round) => write!(f, "trivia:{round}"),
            Self::Own(_) => f.write_str("me"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

    #[test]
    fn channels_are_read_and_written_by_name() {
        for name in
            ["room", "board", &format!("room:team:{ID}"), &format!("board:{ID}"), &format!("trivia:{ID}")]
        {
            let parts = parts(name, None).unwrap();
            assert_eq!(parts.iter().map(ToString::to_string).collect::<Vec<_>>(), [name]);
        }
        let all = format!("room,room:following,room:team:{ID},board,board:{ID},trivia:{ID},me");
        assert_eq!(channels(&all).unwrap().len(), 7);
    }

    #[test]
    fn empty_doubled_and_malformed_channels_are_refused() {
        let other = ID.replace("89ab", "89ac");
        let many: Vec<String> =
            (10..43).map(|nth| format!("board:{}", ID.replace("0190", &format!("01{nth}")))).collect();
        assert_eq!(channels(&many[..32].join(",")).unwrap().len(), 32);
        for wrong in [
            "",
            ",",
            "room,",
            ",room",
            "room,,board",
            "room,room",
            "me,room,me",
            &format!("board:{ID},board:{other},board:{ID}"),
            "Room",
            " room",
            "room;board",
            "rooms",
            "room:",
            "room:team",
            "room:team:",
            "room:team:1",
            &format!("room:{ID}"),
            &format!("room:team:{ID}x"),
            "board:",
            "board:global",
            "me:1",
            "trivia",
            "trivia:",
            "trivia:live",
            &many.join(","),
        ] {
            let refused = parts(wrong, None).unwrap_err();
            assert_eq!(refused.code(), Code::InvalidRequest, "{wrong}");
            assert_eq!(refused.errors()[0].pointer, "/channels", "{wrong}");
        }
    }

    #[test]
    fn private_channels_need_a_session() {
        for wrong in ["me", "room:following", "room,board,me"] {
            assert_eq!(parts(wrong, None).unwrap_err().code(), Code::AuthenticationRequired, "{wrong}");
        }
        // A malformed request is refused as such, with or without a session.
        assert_eq!(parts("me,junk", None).unwrap_err().code(), Code::InvalidRequest);
    }
}
