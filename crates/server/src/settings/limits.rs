//! The rate limits.

use clap::Args;
use terrace_web::{LimitConfig, Rate};

/// Request rates of an account, an address or a name: COUNT/SECONDS; bursts up to COUNT are allowed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rate limits")]
pub(crate) struct LimitSettings {
    /// All requests of one address.
    #[arg(long = "limit-address", env = "TERRACE_LIMIT_ADDRESS", global = true, default_value = "6000/10", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) address: Rate,
    /// Reads of one account.
    #[arg(long = "limit-account-reads", env = "TERRACE_LIMIT_ACCOUNT_READS", global = true, default_value = "600/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) account_reads: Rate,
    /// Writes of one account.
    #[arg(long = "limit-account-writes", env = "TERRACE_LIMIT_ACCOUNT_WRITES", global = true, default_value = "120/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) account_writes: Rate,
    /// Reads of one address, signed out.
    #[arg(long = "limit-anonymous-reads", env = "TERRACE_LIMIT_ANONYMOUS_READS", global = true, default_value = "1200/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) anonymous_reads: Rate,
    /// Writes of one address, signed out.
    #[arg(long = "limit-anonymous-writes", env = "TERRACE_LIMIT_ANONYMOUS_WRITES", global = true, default_value = "120/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) anonymous_writes: Rate,
    /// Registrations from one address.
    #[arg(long = "limit-register", env = "TERRACE_LIMIT_REGISTER", global = true, default_value = "20/600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) register: Rate,
    /// Logins and token refreshes from one address that fail.
    #[arg(long = "limit-login-address", env = "TERRACE_LIMIT_LOGIN_ADDRESS", global = true, default_value = "60/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) login_address: Rate,
    /// Logins under one name, from wherever.
    #[arg(long = "limit-login-name", env = "TERRACE_LIMIT_LOGIN_NAME", global = true, default_value = "10/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) login_name: Rate,
    /// Proofs of the password by one account: changes of the password and deletions of the account.
    #[arg(long = "limit-password-proof", env = "TERRACE_LIMIT_PASSWORD_PROOF", global = true, default_value = "10/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) password_proof: Rate,
    /// Exports of one account.
    #[arg(long = "limit-export", env = "TERRACE_LIMIT_EXPORT", global = true, default_value = "5/3600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) export: Rate,
    /// Uploads of pictures of one account.
    #[arg(long = "limit-uploads", env = "TERRACE_LIMIT_UPLOADS", global = true, default_value = "30/600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) uploads: Rate,
    /// Purchases for money that are started from one address.
    #[arg(long = "limit-purchases", env = "TERRACE_LIMIT_PURCHASES", global = true, default_value = "10/1800", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) purchases: Rate,
    /// Codes that one till redeems.
    #[arg(long = "limit-redemptions", env = "TERRACE_LIMIT_REDEMPTIONS", global = true, default_value = "120/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) redemptions: Rate,
}

impl LimitSettings {
    /// The rate limits, which are in force if `enabled`.
    pub(crate) fn config(&self, enabled: bool) -> LimitConfig {
        let LimitSettings {
            address,
            account_reads,
            account_writes,
            anonymous_reads,
            anonymous_writes,
            register,
            login_address,
            login_name,
            password_proof,
            export,
            uploads,
            purchases,
            redemptions,
        } = *self;
        LimitConfig {
            enabled,
            address,
            account_reads,
            account_writes,
            anonymous_reads,
            anonymous_writes,
            register,
            login_address,
            login_name,
            password_proof,
            export,
            uploads,
            purchases,
            redemptions,
        }
    }
}

/// Parses COUNT/SECONDS.
fn rate(text: &str) -> Result<Rate, String> {
    let parse = |part: &str| part.parse::<u32>().ok().filter(|number| *number > 0);
    text.split_once('/')
        .and_then(|(count, seconds)| Some(Rate::new(parse(count)?, parse(seconds)?.into())))
        .ok_or_else(|| "expected COUNT/SECONDS, two whole numbers above zero, such as 60/10".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;
    use terrace_web::{LimitConfig, Rate};

    #[test]
    fn defaults_of_limits_match_the_web_crate() {
        let limits = |arguments: &[&str]| {
            Cli::try_parse_from([&["terrace"], arguments].concat())
                .unwrap()
                .settings
                .web_config()
                .unwrap()
                .limits
        };
        assert_eq!(limits(&[]), LimitConfig::default());
        assert_eq!(limits(&["--limit-register", "3/5"]).register, Rate::new(3, 5));
        for wrong in ["", "5", "0/5", "5/0", "-1/5", "a/b"] {
            let argument = format!("--limit-register={wrong}");
            assert!(Cli::try_parse_from(["terrace", &argument]).is_err(), "{wrong}");
        }
    }
}
