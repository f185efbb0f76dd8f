//! The locker room over HTTP: feeds, posts, comments and reactions.

mod comments;
pub(crate) mod dto;
mod encoded_posts;
mod export;
mod feed_orders;
mod feed_views;
mod lists;
mod pages;
mod preview;
mod refusals;
mod routes;

pub(crate) use export::EXPORT;
pub(crate) use pages::FeedPages;
pub(crate) use preview::preview;
pub(crate) use routes::{Scope, feed_scope};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::read_feed)
        .service(routes::create_post)
        .service(routes::get_post)
        .service(routes::edit_post)
        .service(routes::delete_post)
        .service(comments::list_comments)
        .service(comments::create_comment)
        .service(comments::get_comment)
        .service(comments::edit_comment)
        .service(comments::delete_comment)
        .service(comments::like_comment)
        .service(comments::unlike_comment)
        .service(comments::report_comment)
        .service(routes::react)
        .service(routes::take_reaction_back)
        .service(routes::report_post)
        .service(lists::list_posts_of);
}
