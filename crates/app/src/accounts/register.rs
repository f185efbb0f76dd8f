//! Registers an account.

use crate::accounts::OwnProfile;
use crate::accounts::sign_in::{Device, Opened, open_session};
use crate::execute::present;
use crate::once::KeyedRequest;
use crate::store::{Command, KeyClaim, RegisterTx, StoredAnswer};
use std::time::Duration;
use terrace_identity::ports::NewAccount;
use terrace_identity::{PasswordHash, Role, TimeZone, Username};
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Timestamp, Topic, UserId};
use terrace_quests::{Period, Quest, QuestWrite, Run};

/// Starts the onboarding quests that are open at `at` for an account that is created at that time.
pub(crate) fn start_onboarding(
    tx: &mut dyn QuestWrite,
    quests: &[Quest],
    user: UserId,
    at: Timestamp,
) -> Result<(), StoreError> {
    for quest in quests.iter().filter(|quest| quest.is_onboarding && quest.is_open(at)) {
        tx.start_run(user, &Run::started(quest.id, Period::Once, at))?;
    }
    Ok(())
}

/// Registers an account and opens a session on its first device.
pub(crate) struct Register {
    pub(crate) username: Username,
    pub(crate) display_name: String,
    pub(crate) time_zone: TimeZone,
    pub(crate) password: PasswordHash,
    pub(crate) device: Device,
    /// The request's idempotency key. The stored answer is the account's id: a session cannot be issued twice, so a
    /// repeated request must prove the password and gets a new session.
    pub(crate) request: Option<KeyedRequest>,
    pub(crate) idempotency_life: Duration,
}

/// The outcome of a registration.
pub(crate) enum RegisterOutcome {
    /// A new account was created.
    Done(Box<Opened>),
    /// The same request already registered this account.
    DoneBefore(UserId),
}

/// Why no account was registered.
pub(crate) enum RegisterRuleRefusal {
    UsernameTaken,
    KeyReused,
}

impl Command for Register {
    const NAME: &'static str = "register";
    type Ports = dyn RegisterTx;
    type Output = RegisterOutcome;
    type Refusal = RegisterRuleRefusal;

    fn run(&self, tx: &mut dyn RegisterTx, ctx: &mut Ctx) -> Outcome<RegisterOutcome, RegisterRuleRefusal> {
        if let Some(KeyedRequest { scope, key, fingerprint }) = &self.request {
            let expired = ctx.now().minus(self.idempotency_life);
            match tx.claim_key(scope, key, fingerprint, ctx.now(), expired)? {
                KeyClaim::Fresh => {}
                KeyClaim::Used { fingerprint: before, answer } if before == *fingerprint => {
                    let user = answer.body.parse().map_err(|_| StoreError::Corrupt {
                        table: "idempotency_keys",
                        column: "body",
                        detail: "not an account's id".to_owned(),
                    })?;
                    return Ok(RegisterOutcome::DoneBefore(user));
                }
                KeyClaim::Used { .. } => return Err(Failure::Refused(RegisterRuleRefusal::KeyReused)),
            }
        }
        if self.username.is_reserved() {
            return Err(Failure::Refused(RegisterRuleRefusal::UsernameTaken));
        }
        let account = NewAccount {
            id: ctx.new_id(),
            username: self.username.clone(),
            display_name: self.display_name.clone(),
            bio: String::new(),
            favorite_team: None,
            time_zone: self.time_zone,
            role: Role::Fan,
            password: self.password.clone(),
            created_at: ctx.now(),
        };
        if !tx.insert_account(&account)? {
            return Err(Failure::Refused(RegisterRuleRefusal::UsernameTaken));
        }
        let quests = tx.quests()?;
        start_onboarding(tx, &quests, account.id, ctx.now())?;
        let tokens = open_session(tx, ctx, account.id, &self.device)?;
        tx.append(
            &NewEvent {
                topic: Topic::Account,
                kind: EventKind::AccountRegistered,
                actor: Some(account.id),
                team: None,
                subject: account.id.as_uuid(),
                object: None,
            },
            ctx.now(),
        )?;
        if let Some(KeyedRequest { scope, key, .. }) = &self.request {
            let answer = StoredAnswer { created: None, body: account.id.to_string() };
            tx.store_answer(scope, key, Some(account.id), &answer)?;
        }
        let profile = present(OwnProfile::read(tx, account.id)?, "read a profile")?;
        Ok(RegisterOutcome::Done(Box::new(Opened { profile, tokens })))
    }
}
