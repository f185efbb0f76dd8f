//! What notifications say, and which page of the web client shows more.

use crate::notifications::read::{Shown, ShownNotification, ShownSubject, Titles};
use terrace_games::RoundId;
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, PostId, TeamId};
use terrace_quests::QuestId;
use terrace_scoring::SeasonId;
use terrace_social::Comment;
use terrace_social::notifications::{Notification, NotificationKind};

/// What notifications are about.
pub const SUBJECTS: &[&str] = &[
    "user",
    "post",
    "comment",
    "quest",
    "achievement",
    "level",
    "claim",
    "order",
    "purchase",
    "round",
    "board",
    "season",
];

/// The maximum number of characters of a text that are shown as a title.
const TITLE: usize = 80;

/// The notification as it is shown; `None` if what it is about cannot be shown any more.
pub(crate) fn render(row: &Notification, shown: &Shown, titles: &Titles) -> Option<ShownNotification> {
    let actors: Vec<AuthorCard> =
        row.actors.iter().filter_map(|actor| shown.cards.get(actor).cloned()).collect();
    if row.kind.has_actors() && actors.is_empty() {
        return None;
    }
    let actor_count = if row.kind.has_actors() { row.visible_actors() } else { 0 };
    let who = who(&actors, actor_count);
    let said = Said::of(row, &who, shown, titles)?;
    Some(ShownNotification {
        id: row.id,
        kind: row.kind,
        actors,
        actor_count,
        subject: ShownSubject { kind: said.subject, id: said.id, title: said.title },
        text: said.text,
        url: said.url,
        read_at: row.read_at,
        created_at: row.created_at,
        position: row.position,
    })
}

/// The fans who caused a notification: up to two by name.
fn who(actors: &[AuthorCard], count: i64) -> String {
    let name = |card: &AuthorCard| card.display_name.clone();
    match (actors, count) {
        ([], _) => String::new(),
        ([one], _) => name(one),
        ([one, two], _) | ([one, two, ..], 2) => format!("{} and {}", name(one), name(two)),
        ([one, two, ..], 3) => format!("{}, {} and 1 other", name(one), name(two)),
        ([one, two, ..], count) => format!("{}, {} and {} others", name(one), name(two), count - 2),
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE {
        return words;
    }
    let cut: String = words.chars().take(TITLE - 1).collect();
    format!("{}…", cut.trim_end())
}

/// The parts of a notification that depend on its kind.
struct Said {
    subject: &'static str,
    id: String,
    title: Option<String>,
    text: String,
    url: String,
}

fn post_path(post: PostId) -> String {
    format!("/posts/{post}")
}

impl Said {
    fn of(row: &Notification, who: &str, shown: &Shown, titles: &Titles) -> Option<Self> {
        use NotificationKind as Kind;
        match row.kind {
            Kind::Follow | Kind::Comment | Kind::Reply | Kind::Mention | Kind::Reaction => {
                Self::by_others(row, who, shown)
            }
            Kind::QuestCompleted => Self::quest(row, titles),
            Kind::Achievement => Self::achievement(row, titles),
            Kind::Level => Self::level(row, titles),
            Kind::Order => Some(Self::bought(row, "order", "order", "orders")),
            Kind::Purchase => Some(Self::bought(row, "purchase", "purchase", "purchases")),
            Kind::Reward => Some(Self::bought(row, "claim", "reward", "my-rewards")),
            Kind::StreakAtRisk => {
                let streak = row.detail.as_deref().unwrap_or_default();
                let text = format!("Your streak of {streak} days ends today: visit to keep it");
                let (id, url) = (row.subject.to_string(), "/quests".to_owned());
                Some(Self { subject: "user", id, title: None, text, url })
            }
            Kind::RankLost | Kind::Season => Self::on_boards(row, shown),
            Kind::Moderation => Some(Self::removed(row, shown)),
            Kind::TriviaSoon => Self::round(row, shown),
        }
    }

    /// What other fans did. The subject of a mention or reaction is a comment if there is an object.
    fn by_others(row: &Notification, who: &str, shown: &Shown) -> Option<Self> {
        use NotificationKind::{Comment, Follow, Mention, Reaction, Reply};
        let post = PostId::from_uuid(row.subject);
        match (row.kind, row.object) {
            (Follow, _) => {
                let (id, url) = (row.subject.to_string(), "/fans".to_owned());
                Some(Self { subject: "user", id, title: None, text: format!("{who} followed you"), url })
            }
            (Comment, _) => Self::on_post(post, shown, format!("{who} commented on your post")),
            (Reply, _) => Self::on_comment(row, shown, format!("{who} replied to your comment")),
            (Mention, Some(_)) => Self::on_comment(row, shown, format!("{who} mentioned you in a comment")),
            (Mention, None) => Self::on_post(post, shown, format!("{who} mentioned you in a post")),
            (Reaction, Some(_)) => Self::on_comment(row, shown, format!("{who} liked your comment")),
            (Reaction, None) => Self::on_post(post, shown, format!("{who} reacted to your post")),
            (_, _) => None,
        }
    }

    fn quest(row: &Notification, titles: &Titles) -> Option<Self> {
        let title = titles.quests.quest(QuestId::from_uuid(row.subject))?.title.clone();
        let id = row.subject.to_string();
        let (text, url) = (format!("You completed the quest {title}"), format!("/quests/{id}"));
        Some(Self { subject: "quest", id, title: Some(title), text, url })
    }

    fn achievement(row: &Notification, titles: &Titles) -> Option<Self> {
        let key = row.detail.clone()?;
        let known = titles.quests.achievements().iter().find(|known| known.key.as_str() == key)?;
        let (title, text) = (Some(known.title.clone()), format!("You unlocked {}", known.title));
        Some(Self { subject: "achievement", id: key, title, text, url: "/achievements".to_owned() })
    }

    fn level(row: &Notification, titles: &Titles) -> Option<Self> {
        let id = row.detail.clone()?;
        let place = id.parse::<usize>().ok()?.checked_sub(1)?;
        let title = titles.club.levels.iter().nth(place)?.name.clone();
        let text = format!("You reached level {id}: {title}");
        Some(Self { subject: "level", id, title: Some(title), text, url: "/account".to_owned() })
    }

    fn bought(row: &Notification, subject: &'static str, what: &str, page: &str) -> Self {
        let (id, state) = (row.subject.to_string(), row.detail.as_deref().unwrap_or_default());
        let (text, url) = (format!("Your {what} {}", became(state)), format!("/{page}/{id}"));
        Self { subject, id, title: None, text, url }
    }

    fn on_boards(row: &Notification, shown: &Shown) -> Option<Self> {
        let (id, url) = (row.subject.to_string(), "/table".to_owned());
        if row.kind == NotificationKind::Season {
            let season = shown.seasons.as_ref()?.get(SeasonId::from_uuid(row.subject))?;
            let verb = if row.detail.as_deref() == Some("active") { "has begun" } else { "is over" };
            let (title, text) = (Some(season.name.clone()), format!("{} {verb}", season.name));
            return Some(Self { subject: "season", id, title, text, url });
        }
        let team = row.object.map(TeamId::from_uuid);
        let title = team.and_then(|team| shown.teams.get(&team).cloned());
        let text = format!("You left the first hundred of {}", title.as_deref().unwrap_or("all fans"));
        Some(Self { subject: "board", id, title, text, url })
    }

    fn round(row: &Notification, shown: &Shown) -> Option<Self> {
        let round = shown.rounds.get(&RoundId::from_uuid(row.subject)).filter(|round| !round.is_cancelled)?;
        let (id, title) = (round.id.to_string(), Some(round.title.clone()));
        let (text, url) = (format!("{} begins soon", round.title), format!("/trivia/{id}"));
        Some(Self { subject: "round", id, title, text, url })
    }

    fn on_post(post: PostId, shown: &Shown, text: String) -> Option<Self> {
        let view = shown.posts.get(&post)?;
        let title = Some(beginning(&view.post.body));
        Some(Self { subject: "post", id: post.to_string(), title, text, url: post_path(post) })
    }

    fn on_comment(row: &Notification, shown: &Shown, text: String) -> Option<Self> {
        let comment: &Comment<AuthorCard> = shown.comments.get(&CommentId::from_uuid(row.subject))?;
        // A deleted post hides its comments before they are removed.
        let post = shown.posts.get(&comment.post)?.post.id;
        let title = Some(beginning(&comment.body));
        Some(Self { subject: "comment", id: comment.id.to_string(), title, text, url: post_path(post) })
    }

    fn removed(row: &Notification, shown: &Shown) -> Self {
        let subject = if row.object.is_some() { "comment" } else { "post" };
        let post = row.object.map(PostId::from_uuid).filter(|post| shown.posts.contains_key(post));
        Self {
            subject,
            id: row.subject.to_string(),
            title: None,
            text: format!("A moderator removed your {subject}"),
            url: post.map_or_else(|| "/room".to_owned(), post_path),
        }
    }
}

/// What became of an order, a purchase or a claim.
fn became(state: &str) -> &'static str {
    match state {
        "paid" => "is paid",
        "completed" => "is complete",
        "expired" => "has expired",
        "refunded" => "was refunded",
        "revoked" => "was revoked",
        _ => "changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{UserId, Uuid, num};

    fn card(name: &str) -> AuthorCard {
        let id = UserId::from_uuid(Uuid::from_u128(num::to_u64(name.len()).into()));
        AuthorCard { id, username: name.to_owned(), display_name: name.to_owned(), picture: None }
    }

    #[test]
    fn two_fans_are_named_and_the_others_counted() {
        let fans = ["Ana", "Bea", "Cai"].map(card);
        for (shown, count, text) in [
            (1, 1, "Ana"),
            (2, 2, "Ana and Bea"),
            (3, 3, "Ana, Bea and 1 other"),
            (3, 10_000, "Ana, Bea and 9998 others"),
        ] {
            assert_eq!(who(&fans[..shown], count), text);
        }
    }

    #[test]
    fn a_title_is_the_beginning_of_a_text_on_one_line() {
        assert_eq!(beginning("What a\n save! "), "What a save!");
        let long = beginning(&"save ".repeat(40));
        assert!(long.ends_with("save…") && long.chars().count() <= TITLE, "{long}");
        assert_eq!(beginning(&"é".repeat(80)), "é".repeat(80));
    }
}
