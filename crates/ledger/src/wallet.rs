//! Wallets: addresses on networks that a provider keeps for fans, with the tokens that they hold. The service never has a key
//! of a wallet: it knows the address, and asks the provider for the rest.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp, UnknownName, UserId, typed_ids};

typed_ids! {
    /// Id of a wallet; also the name under which its provider creates it, at most once.
    WalletId;
}

/// The name of a network, such as `polygon`: 1 to 40 of `a-z`, `0-9` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(String);

/// The text is not the name of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 40 of a-z, 0-9 and -")]
pub struct MalformedNetworkName;

impl Network {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Network {
    type Err = MalformedNetworkName;

    fn from_str(text: &str) -> Result<Self, MalformedNetworkName> {
        let fits = (1..=40).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if fits { Ok(Self(text.to_owned())) } else { Err(MalformedNetworkName) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name on a network, such as an address, a contract or a transaction: 1 to 128 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainName(String);

/// The text is not a name on a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 128 visible ASCII characters")]
pub struct MalformedChainName;

impl ChainName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChainName {
    type Err = MalformedChainName;

    fn from_str(text: &str) -> Result<Self, MalformedChainName> {
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(MalformedChainName) }
    }
}

impl fmt::Display for ChainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The state of a wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalletStatus {
    /// The provider is being asked for it.
    Requested,
    /// It has an address.
    Ready,
    /// The provider refused it. The next request of the fan asks again.
    Failed,
}

impl WalletStatus {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Requested, Self::Ready, Self::Failed];

    /// The stable name, as stored and in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }
}

impl FromStr for WalletStatus {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Who holds the keys of a wallet. The service never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Custody {
    /// The provider keeps them for the fan.
    Provider,
    /// The fan, on a device of theirs.
    Fan,
}

impl Custody {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Provider, Self::Fan];

    /// The stable name, as stored and in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Fan => "fan",
        }
    }
}

impl FromStr for Custody {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|custody| custody.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A fan's wallet on a network; a fan has at most one on each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallet {
    /// Id of the wallet.
    pub id: WalletId,
    /// The fan.
    pub user: UserId,
    /// The network of its address.
    pub network: Network,
    /// The state.
    pub status: WalletStatus,
    /// The address, once the wallet is ready.
    pub address: Option<ChainName>,
    /// Who holds the keys, once the wallet is ready.
    pub custody: Option<Custody>,
    /// When the provider last reported what it holds.
    pub balances_at: Option<Timestamp>,
}

/// A token of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The provider's stable key: 1 to 100 visible ASCII characters.
    pub key: String,
    /// The short name: 1 to 20 visible ASCII characters.
    pub symbol: String,
    /// How many decimal places the token has, at most [`Token::MOST_DECIMALS`].
    pub decimals: u8,
}

/// Why a token or its amount is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// The key or the symbol.
    #[error("a token has a key of 1 to 100 and a symbol of 1 to 20 visible ASCII characters")]
    Name,
    /// The number of decimal places.
    #[error("a token has at most {} decimal places", Token::MOST_DECIMALS)]
    Decimals,
    /// The amount is malformed, or has more places than the token.
    #[error("an amount is a decimal number with at most as many places as the token has")]
    Amount,
}

impl Token {
    /// The largest number of decimal places.
    pub const MOST_DECIMALS: u8 = 36;

    /// Validates a token.
    pub fn new(key: &str, symbol: &str, decimals: u8) -> Result<Self, TokenFault> {
        let is_name = |text: &str, most: usize| {
            (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !is_name(key, 100) || !is_name(symbol, 20) {
            return Err(TokenFault::Name);
        }
        if decimals > Self::MOST_DECIMALS {
            return Err(TokenFault::Decimals);
        }
        Ok(Self { key: key.to_owned(), symbol: symbol.to_owned(), decimals })
    }
}

/// How much of a token a wallet holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBalance {
    /// What is held.
    pub token: Token,
    /// The amount as a decimal number of at most 120 characters; it is never computed with.
    pub amount: String,
}

impl TokenBalance {
    /// Validates an amount: `0`, `12` or `12.5`, without a sign, an exponent or leading zeros.
    pub fn new(token: Token, amount: &str) -> Result<Self, TokenFault> {
        let (whole, places) =
            amount.split_once('.').map_or((amount, None), |(whole, places)| (whole, Some(places)));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let has_zeros = whole.len() > 1 && whole.starts_with('0');
        let places_fit =
            places.is_none_or(|places| is_number(places) && places.len() <= usize::from(token.decimals));
        if amount.len() > 120 || !is_number(whole) || has_zeros || !places_fit {
            return Err(TokenFault::Amount);
        }
        Ok(Self { token, amount: amount.to_owned() })
    }
}

/// A wallet for which the provider is asked, and how often it was asked before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisioning {
    /// What is asked for.
    pub wallet: Wallet,
    /// The number of this attempt, from 1; it also identifies the attempt.
    pub attempt: u32,
    /// Failed attempts since the fan last asked for the wallet.
    pub failures: u32,
}

/// The state of provisioning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalletStanding {
    /// Wallets for which the provider is being asked.
    pub requested: u64,
    /// When the oldest of them was last requested.
    pub oldest: Option<Timestamp>,
    /// Wallets that the provider refused.
    pub failed: u64,
}

/// Reads wallets.
pub trait WalletRead {
    /// The wallets of a fan, the oldest first. One round trip.
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError>;

    /// A wallet of this fan.
    fn wallet(&mut self, user: UserId, id: WalletId) -> Result<Option<Wallet>, StoreError>;

    /// What a wallet held when the provider last reported it, in the provider's order.
    fn wallet_balances(&mut self, id: WalletId) -> Result<Vec<TokenBalance>, StoreError>;

    /// Whether the provider is to be asked for any wallet.
    fn is_wallet_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// Requested wallets, in the order of their ids, that are due later than `latest`, which no pause explains.
    fn sleeping_wallets(
        &mut self,
        latest: Timestamp,
        after: Option<WalletId>,
        limit: u32,
    ) -> Result<Vec<WalletId>, StoreError>;

    /// Counts wallets that are not ready.
    fn wallet_standing(&mut self) -> Result<WalletStanding, StoreError>;
}

/// Writes wallets. The caller of the first two holds the lock on the fan's account.
pub trait WalletWrite: WalletRead {
    /// Inserts a requested wallet, which is due at once, unless the fan has one on this network. Returns the fan's wallet, and
    /// whether it is the new one. Up to two round trips.
    fn request_wallet(
        &mut self,
        id: WalletId,
        user: UserId,
        network: &Network,
        now: Timestamp,
    ) -> Result<(Wallet, bool), StoreError>;

    /// Makes a failed wallet requested and due again; `false` if it is not failed.
    fn request_again(&mut self, id: WalletId, now: Timestamp) -> Result<bool, StoreError>;

    /// Takes up to `limit` wallets that are due, and makes them due again at `until`. Wallets that another transaction is
    /// taking are left out.
    fn take_wallets(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Provisioning>, StoreError>;

    /// Makes a requested wallet ready; `false` if it is not requested.
    fn settle_wallet(
        &mut self,
        id: WalletId,
        address: &ChainName,
        custody: Custody,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records that an attempt got no answer, or was refused, and when the next one is due. Returns how often the provider
    /// refused since the fan last asked; `None` if the wallet is no longer requested or a later attempt was begun.
    fn note_wallet_fault(
        &mut self,
        id: WalletId,
        attempt: u32,
        is_refusal: bool,
        words: &str,
        due_at: Timestamp,
    ) -> Result<Option<u32>, StoreError>;

    /// Makes a requested wallet failed; `false` if it is not requested.
    fn fail_wallet(&mut self, id: WalletId, words: &str, now: Timestamp) -> Result<bool, StoreError>;

    /// Replaces what a ready wallet holds, unless a later report is stored; returns whether it did.
    fn put_wallet_balances(
        &mut self,
        id: WalletId,
        balances: &[TokenBalance],
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes the wallets of a fan; returns how many.
    fn erase_wallets(&mut self, user: UserId) -> Result<u64, StoreError>;
}

/// Repairs wallets.
pub trait WalletRepair: WalletRead {
    /// Makes requested wallets due now if they are due later than `latest`; returns how many.
    fn wake_wallets(
        &mut self,
        ids: &[WalletId],
        latest: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_read_as_they_are_written() {
        for right in ["polygon", "a", "base-2", &"x".repeat(40)] {
            assert_eq!(right.parse::<Network>().map(|network| network.to_string()).as_deref(), Ok(right));
        }
        for wrong in ["", "Polygon", "a b", "é", "a_b", &"x".repeat(41)] {
            assert_eq!(wrong.parse::<Network>(), Err(MalformedNetworkName), "{wrong}");
        }
        assert!("0xAb".parse::<ChainName>().is_ok() && "x".repeat(128).parse::<ChainName>().is_ok());
        for wrong in ["", "0x ab", "é", &"x".repeat(129)] {
            assert_eq!(wrong.parse::<ChainName>(), Err(MalformedChainName), "{wrong}");
        }
        for status in WalletStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        for custody in Custody::ALL {
            assert_eq!(custody.as_str().parse(), Ok(custody));
        }
    }

    #[test]
    fn amounts_are_decimal_numbers_with_the_places_of_their_token() {
        let token = |decimals| Token::new("coin", "C", decimals).unwrap();
        for (amount, decimals) in
            [("0", 0), ("12", 0), ("0.5", 1), ("12.50", 2), ("9".repeat(78).as_str(), 18), ("0.0", 18)]
        {
            assert_eq!(TokenBalance::new(token(decimals), amount).map(|it| it.amount).as_deref(), Ok(amount));
        }
        for (amount, decimals) in [
            ("", 2),
            (".5", 2),
            ("5.", 2),
            ("05", 2),
            ("-1", 2),
            ("1e3", 2),
            ("1.234", 2),
            ("1.5", 0),
            ("1,5", 2),
            ("NaN", 2),
            (" 1", 2),
            ("9".repeat(121).as_str(), 2),
        ] {
            assert_eq!(TokenBalance::new(token(decimals), amount), Err(TokenFault::Amount), "{amount}");
        }
        assert_eq!(Token::new("", "C", 2), Err(TokenFault::Name));
        assert_eq!(Token::new("coin", "a b", 2), Err(TokenFault::Name));
        assert_eq!(Token::new("coin", "C", 37), Err(TokenFault::Decimals));
    }
}
