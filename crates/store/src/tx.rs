//! Combines every port of the store: what a query may read and what a command may write.

use crate::legacy::{LegacyMove, LegacyStaging, LegacyStagingWrite};
use crate::maintenance::{MaintenanceRead, MaintenanceWrite};
use crate::media::{MediaRead, MediaWrite};
use crate::minting::{MintingDelivery, MintingRead, MintingUpkeep, MintingWrite};
use crate::payments::{PaymentRead, PaymentWrite, SandboxWrite};
use crate::repair::{RepairRead, RepairWrite};
use crate::{
    Audit, BackfillRead, BackfillWrite, ConsumerWrite, EventRead, FollowImportWrite, IdempotencyRead,
    IdempotencyWrite, JobRead, JobWrite, LeaseRead, LeaseWrite, SecretMarks, SweepRead, SweepWrite,
};
use terrace_identity::{
    AccountRead, AccountWrite, AuthorCard, CardRead, PresenceWrite, SessionRead, SessionWrite, Team,
    TeamRead, TeamWrite,
};
use terrace_kernel::EventLog;
use terrace_ledger::{LedgerAudit, LedgerRead, LedgerRepairWrite, LedgerWrite};
use terrace_packs::{CatalogueRead, CatalogueWrite, OpeningWrite, SaleRead, SaleWrite};
use terrace_quests::{OwnQuestRead, QuestRead, QuestWrite, StandingsRead};
use terrace_scoring::{BoardRead, BoardWrite, PointsAudit, PointsRead, PointsRepair, PointsWrite};
use terrace_social::{
    AuthoredRead, CommentRead, CommentWrite, DismissalWrite, ErasureWrite, FeedRead, FollowGraphRead,
    GraphErasure, GraphRead, GraphWrite, OwnGraphRead, PostRead, PostWrite, ReactionWrite, ReportWrite,
    SuggestionRead, TeamFollowRead, TeamFollowWrite, TopicWrite, TrendRead, TrendWrite,
};

/// Every port that a query may read through.
pub trait ReadTx:
    AccountRead
    + SessionRead
    + TeamRead
    + PostRead<AuthorCard>
    + FeedRead<AuthorCard>
    + CommentRead<AuthorCard>
    + GraphRead<AuthorCard>
    + TeamFollowRead<Team>
    + OwnGraphRead
    + MediaRead
    + AuthoredRead
    + FollowGraphRead
    + SuggestionRead<AuthorCard>
    + IdempotencyRead
    + EventRead
    + Audit
    + SweepRead
    + JobRead
    + MaintenanceRead
    + LeaseRead
    + BackfillRead
    + TrendRead<AuthorCard>
    + CardRead
    + PointsRead
    + PointsAudit
    + BoardRead
    + QuestRead
    + OwnQuestRead
    + StandingsRead
    + LedgerRead
    + LedgerAudit
    + CatalogueRead
    + SaleRead
    + MintingRead
    + PaymentRead
    + RepairRead
    + LegacyStaging
{
}

impl<T> ReadTx for T where
    T: AccountRead
        + SessionRead
        + TeamRead
        + PostRead<AuthorCard>
        + FeedRead<AuthorCard>
        + CommentRead<AuthorCard>
        + GraphRead<AuthorCard>
        + TeamFollowRead<Team>
        + OwnGraphRead
        + MediaRead
        + AuthoredRead
        + FollowGraphRead
        + SuggestionRead<AuthorCard>
        + IdempotencyRead
        + EventRead
        + Audit
        + SweepRead
        + JobRead
        + MaintenanceRead
        + LeaseRead
        + BackfillRead
        + TrendRead<AuthorCard>
        + CardRead
        + PointsRead
        + PointsAudit
        + BoardRead
        + QuestRead
        + OwnQuestRead
        + StandingsRead
        + LedgerRead
        + LedgerAudit
        + CatalogueRead
        + SaleRead
        + MintingRead
        + PaymentRead
        + RepairRead
        + LegacyStaging
{
}

/// Every port that a command may use. The transaction is committed as a whole or not at all.
pub trait Tx:
    ReadTx
    + AccountWrite
    + SessionWrite
    + PresenceWrite
    + TeamWrite
    + PostWrite<AuthorCard>
    + CommentWrite<AuthorCard>
    + ReactionWrite
    + ReportWrite
    + DismissalWrite
    + FollowImportWrite
    + LegacyStagingWrite
    + LegacyMove
    + GraphWrite<AuthorCard>
    + TeamFollowWrite
    + GraphErasure
    + MediaWrite
    + ErasureWrite
    + EventLog
    + ConsumerWrite
    + IdempotencyWrite
    + LeaseWrite
    + SweepWrite
    + JobWrite
    + MaintenanceWrite
    + BackfillWrite
    + TopicWrite
    + TrendWrite
    + PointsWrite
    + PointsRepair
    + BoardWrite
    + QuestWrite
    + LedgerWrite
    + LedgerRepairWrite
    + CatalogueWrite
    + SaleWrite
    + OpeningWrite
    + MintingWrite
    + MintingDelivery
    + MintingUpkeep
    + PaymentWrite
    + SandboxWrite
    + SecretMarks
    + RepairWrite
{
}

impl<T> Tx for T where
    T: ReadTx
        + AccountWrite
        + SessionWrite
        + PresenceWrite
        + TeamWrite
        + PostWrite<AuthorCard>
        + CommentWrite<AuthorCard>
        + ReactionWrite
        + ReportWrite
        + DismissalWrite
        + FollowImportWrite
        + LegacyStagingWrite
        + LegacyMove
        + GraphWrite<AuthorCard>
        + TeamFollowWrite
        + GraphErasure
        + MediaWrite
        + ErasureWrite
        + EventLog
        + ConsumerWrite
        + IdempotencyWrite
        + LeaseWrite
        + SweepWrite
        + JobWrite
        + MaintenanceWrite
        + BackfillWrite
        + TopicWrite
        + TrendWrite
        + PointsWrite
        + PointsRepair
        + BoardWrite
        + QuestWrite
        + LedgerWrite
        + LedgerRepairWrite
        + CatalogueWrite
        + SaleWrite
        + OpeningWrite
        + MintingWrite
        + MintingDelivery
        + MintingUpkeep
        + PaymentWrite
        + SandboxWrite
        + SecretMarks
        + RepairWrite
{
}
