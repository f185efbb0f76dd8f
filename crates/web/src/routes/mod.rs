//! The HTTP interface: every route in one table, each handler in the file of its subject.

mod accounts;
mod catalogue;
mod comments;
mod cron;
mod graph;
mod leaderboard;
mod locker_room;
mod media;
mod once;
mod own_account;
mod own_packs;
mod packs;
mod page;
mod profile;
mod quests;
mod recommended;
mod refusals;
mod sessions;
mod streams;
mod trends;
mod wallets;

pub(crate) use leaderboard::leaderboard_page;
pub(crate) use locker_room::post_list;
pub(crate) use quests::quest_list;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes under `/api`. The router tries them in this order, and each one with a placeholder costs it an expression:
/// what crowds ask for comes first, the rest in the order of `docs/http-api.md`.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config
        // Quests
        .service(quests::list_quests)
        .service(quests::start_quest)
        .service(quests::complete_step)
        .service(quests::check_progress)
        .service(quests::visit_daily)
        .service(quests::list_completed_quests)
        .service(quests::list_achievements)
        // Leaderboard
        .service(leaderboard::read_leaderboard)
        .service(leaderboard::list_leaderboards)
        .service(leaderboard::join_leaderboard)
        .service(leaderboard::leave_leaderboard)
        .service(leaderboard::read_points)
        .service(streams::stream_leaderboard)
        // Accounts
        .service(accounts::register)
        .service(accounts::login)
        .service(accounts::logout)
        .service(accounts::mobile_login)
        .service(accounts::mobile_refresh)
        .service(accounts::mobile_logout)
        .service(streams::stream_own)
        .service(profile::get_own_profile)
        .service(profile::change_profile)
        .service(profile::change_password)
        .service(media::set_picture)
        .service(media::remove_picture)
        .service(own_account::delete_account)
        .service(own_account::export_account)
        .service(sessions::list_sessions)
        .service(sessions::end_session)
        .service(profile::get_public_profile)
        // Teams
        .service(catalogue::list_leagues)
        .service(catalogue::get_league)
        .service(catalogue::list_teams)
        .service(catalogue::get_team)
        // Locker room
        .service(locker_room::read_feed)
        .service(locker_room::create_post)
        .service(streams::stream_locker_room)
        .service(locker_room::get_post)
        .service(locker_room::delete_post)
        .service(comments::list_comments)
        .service(comments::create_comment)
        .service(comments::get_comment)
        .service(comments::delete_comment)
        .service(locker_room::react)
        .service(locker_room::take_reaction_back)
        .service(locker_room::report_post)
        .service(graph::follow)
        .service(graph::unfollow)
        .service(graph::list_followers)
        .service(graph::list_following)
        .service(recommended::read_recommended)
        .service(recommended::dismiss_recommended)
        .service(graph::block)
        .service(graph::unblock)
        .service(graph::list_blocks)
        .service(media::upload_media)
        .service(media::get_media)
        .service(trends::get_trends)
        // Packs
        .service(packs::list_packs)
        .service(packs::get_pack)
        .service(packs::purchase_pack)
        .service(packs::open_pack)
        .service(own_packs::list_own_packs)
        .service(own_packs::list_opened_packs)
        .service(own_packs::list_collectibles)
        .service(own_packs::list_purchases)
        .service(own_packs::get_purchase)
        // Balances
        .service(wallets::read_wallets)
        .service(wallets::read_cash_balance)
        // Platform
        .service(cron::sync_trends)
        .service(cron::sync_leaderboards)
        .service(cron::sync_quests)
        .service(cron::award_points);
}
