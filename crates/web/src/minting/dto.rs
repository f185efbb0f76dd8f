//! The body of the minter's reports.

use utoipa::ToSchema;
use uuid::Uuid;

/// What a minter reports.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) enum MintReportStatus {
    /// A token was minted.
    Minted,
    /// An attempt to mint failed.
    Failed,
    /// The token was burned.
    Burned,
}

/// A report of the minter. Other fields are ignored, and so are reports with another status.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents a message that the use cases read, after its signature")]
pub(crate) struct MintReportBody {
    /// The minter's id of the event, the same for every delivery: 1 to 255 visible ASCII characters.
    #[schema(example = "evt_1", min_length = 1, max_length = 255)]
    event_id: String,
    /// The copy, as the minter was notified of it.
    owned_id: Uuid,
    /// What happened.
    status: MintReportStatus,
    /// The network: 1 to 128 visible ASCII characters, as are the following names. All four are there for a minted token.
    #[schema(example = "polygon", max_length = 128, nullable = false)]
    network: Option<String>,
    /// The contract.
    #[schema(example = "0x52908400098527886e0f7030069857d2e4169ee7", max_length = 128, nullable = false)]
    contract: Option<String>,
    /// The id of the token within its contract.
    #[schema(example = "7", max_length = 128, nullable = false)]
    token_id: Option<String>,
    /// The transaction.
    #[schema(example = "0x01", max_length = 128, nullable = false)]
    transaction_id: Option<String>,
}
