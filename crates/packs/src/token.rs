//! Tokens that an external minter makes for copies of collectibles. Ownership does not depend on them.

use terrace_kernel::UnknownName;

/// A token on a network, as the minter names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintedToken {
    /// The name of the network.
    pub network: String,
    /// The contract that issued it, 1 to 128 visible ASCII characters like the other names.
    pub contract: String,
    /// The id of the token within its contract.
    pub token_id: String,
    /// The transaction that minted it.
    pub transaction: String,
}

/// A name of a token is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a name of a token is 1 to 128 visible ASCII characters")]
pub struct MalformedToken;

impl MintedToken {
    /// Validates the names of a token, each of 1 to 128 visible ASCII characters.
    pub fn new(
        network: &str,
        contract: &str,
        token_id: &str,
        transaction: &str,
    ) -> Result<Self, MalformedToken> {
        let is_name =
            |text: &str| (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if ![network, contract, token_id, transaction].into_iter().all(is_name) {
            return Err(MalformedToken);
        }
        let [network, contract, token_id, transaction] =
            [network, contract, token_id, transaction].map(str::to_owned);
        Ok(Self { network, contract, token_id, transaction })
    }

    /// Whether both name the same token, whatever the transactions.
    pub fn is_same(&self, other: &Self) -> bool {
        let name = |token: &Self| (token.network.clone(), token.contract.clone(), token.token_id.clone());
        name(self) == name(other)
    }
}

/// What the minter has reported of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// Nothing, or only failures.
    None,
    /// The token exists.
    Minted(MintedToken),
    /// The token was burned, perhaps before its minting was reported.
    Burned,
}

/// What a minter reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportStatus {
    /// A token was minted.
    Minted,
    /// An attempt to mint failed; another one may follow.
    Failed,
    /// The token was burned.
    Burned,
}

impl ReportStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Minted, Self::Failed, Self::Burned];

    /// The stable name, as stored and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minted => "minted",
            Self::Failed => "failed",
            Self::Burned => "burned",
        }
    }
}

impl std::str::FromStr for ReportStatus {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The report names another token than an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherToken;

/// The state after a report, whatever the order of reports: `None` if it does not change. A copy has at most one token, and a
/// burned one does not come back.
pub fn reported(
    state: &TokenState,
    status: ReportStatus,
    token: Option<&MintedToken>,
) -> Result<Option<TokenState>, OtherToken> {
    match (state, status, token) {
        (TokenState::Minted(known), ReportStatus::Minted | ReportStatus::Burned, Some(token))
            if !known.is_same(token) =>
        {
            Err(OtherToken)
        }
        (TokenState::None, ReportStatus::Minted, Some(token)) => Ok(Some(TokenState::Minted(token.clone()))),
        (TokenState::None | TokenState::Minted(_), ReportStatus::Burned, _) => Ok(Some(TokenState::Burned)),
        (TokenState::None | TokenState::Minted(_) | TokenState::Burned, _, _) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(id: &str, transaction: &str) -> MintedToken {
        MintedToken::new("polygon", "0xab", id, transaction).unwrap()
    }

    /// Contract part 2 §4: reports in any order, and any number of times, end in the same state.
    #[test]
    fn spec_4_reports_in_any_order_end_in_one_state() {
        use ReportStatus::{Burned, Failed, Minted};
        let one = token("1", "0x1");
        let reports = [(Failed, None), (Minted, Some(&one)), (Burned, Some(&one)), (Failed, None)];
        let end = |order: &[usize]| {
            let mut state = TokenState::None;
            for nth in order {
                let (status, token) = reports[*nth];
                state = reported(&state, status, token).unwrap().unwrap_or(state);
            }
            state
        };
        for order in [[0, 1, 2, 3], [2, 1, 0, 3], [1, 2, 1, 1], [3, 2, 2, 1], [2, 3, 1, 0]] {
            assert_eq!(end(&order), TokenState::Burned, "{order:?}");
        }
        for order in [[0, 1, 3], [1, 0, 3], [1, 1, 1]] {
            assert_eq!(end(&order), TokenState::Minted(one.clone()), "{order:?}");
        }
        assert_eq!(end(&[0, 3, 0]), TokenState::None);
    }

    #[test]
    fn a_copy_has_one_token() {
        let known = TokenState::Minted(token("1", "0x1"));
        let (same, other) = (token("1", "0x2"), token("2", "0x1"));
        assert_eq!(reported(&known, ReportStatus::Minted, Some(&same)), Ok(None));
        assert_eq!(reported(&known, ReportStatus::Minted, Some(&other)), Err(OtherToken));
        assert_eq!(reported(&known, ReportStatus::Burned, Some(&other)), Err(OtherToken));
        assert_eq!(reported(&known, ReportStatus::Failed, None), Ok(None));
    }

    #[test]
    fn names_of_tokens_are_bounded() {
        assert!(MintedToken::new("polygon", "0xab", &"9".repeat(78), "0x1").is_ok());
        for wrong in ["", "a b", "é", &"x".repeat(129)] {
            assert_eq!(MintedToken::new(wrong, "0xab", "1", "0x1"), Err(MalformedToken), "{wrong}");
            assert_eq!(MintedToken::new("polygon", "0xab", "1", wrong), Err(MalformedToken), "{wrong}");
        }
        for status in ReportStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
    }
}
