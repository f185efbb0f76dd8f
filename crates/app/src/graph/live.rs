//! The follow graph as a live model: all active users, the users they follow, and the teams they support.

use crate::platform::{EventEffects, LiveModel, Loading};
use crate::store::LiveReadTx;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;
use std::sync::{Mutex, PoisonError};
use terrace_kernel::{Event, EventKind, LeagueId, StoreError, TeamId, UserId, distinct};
use terrace_social::recommend::{FollowGraph, Loader};
use terrace_social::{Edges, Member};

/// Rows read per portion: occupies a reading connection for some tens of milliseconds.
const PORTION: u32 = 50_000;
/// A restored user with more follows than this is not added edge by edge; the graph is reloaded instead.
const MOST_EDGES: u32 = 10_000;

/// The follow graph.
pub(crate) struct Graph(FollowGraph);

impl Graph {
    /// The underlying graph.
    pub(crate) const fn follow_graph(&self) -> &FollowGraph {
        &self.0
    }
}

/// The graph while it is loaded.
#[derive(Default)]
pub(crate) struct Draft {
    loader: Loader,
    /// Users whose edges are left out.
    inactive: HashSet<UserId>,
    place: LoadCursor,
}

/// The next portion to read.
#[derive(Clone, Copy)]
enum LoadCursor {
    Members(Option<UserId>),
    Follows(Option<(UserId, UserId)>),
    TeamFollows(Option<(UserId, TeamId)>),
}

impl Default for LoadCursor {
    fn default() -> Self {
        Self::Members(None)
    }
}

/// The current state of everything that a batch of events refers to.
#[derive(Default)]
pub(crate) struct GraphChanges {
    follows: Vec<((UserId, UserId), bool)>,
    team_follows: Vec<((UserId, TeamId), bool)>,
    members: Vec<Member>,
    restored: Vec<(UserId, Edges)>,
    leagues: HashMap<TeamId, LeagueId>,
    gone: Vec<UserId>,
}

impl LiveModel for Graph {
    const NAME: &'static str = "follow_graph";
    const EXACT: bool = false;
    const FOLLOWS: &'static [EventKind] = &[
        EventKind::UserFollowed,
        EventKind::UserUnfollowed,
        EventKind::UserBlocked,
        EventKind::TeamFollowed,
        EventKind::TeamUnfollowed,
        EventKind::ProfileChanged,
        EventKind::AccountDeleted,
        EventKind::AccountSuspended,
        EventKind::AccountRestored,
        EventKind::FollowsImported,
    ];
    type Draft = Mutex<Draft>;
    type Changes = GraphChanges;

    fn load(draft: &Mutex<Draft>, _lane: usize, tx: &mut dyn LiveReadTx) -> Result<Loading, StoreError> {
        let mut draft = draft.lock().unwrap_or_else(PoisonError::into_inner);
        let Draft { loader, inactive, place } = &mut *draft;
        let next = match *place {
            LoadCursor::Members(after) => {
                let members = tx.members(after, PORTION)?;
                for member in &members {
                    match member.favorite_team {
                        _ if !member.is_active => drop(inactive.insert(member.user)),
                        Some(team) => loader.favorite_team(member.user, team),
                        None => {}
                    }
                }
                last(&members)
                    .map_or(LoadCursor::Follows(None), |member| LoadCursor::Members(Some(member.user)))
            }
            LoadCursor::Follows(after) => {
                let follows = tx.follows(after, PORTION)?;
                for (user, followed) in &follows {
                    if !inactive.contains(user) && !inactive.contains(followed) {
                        loader.follow(*user, *followed);
                    }
                }
                last(&follows)
                    .map_or(LoadCursor::TeamFollows(None), |follow| LoadCursor::Follows(Some(follow)))
            }
            LoadCursor::TeamFollows(after) => {
                let follows = tx.team_follows(after, PORTION)?;
                for (user, team) in &follows {
                    if !inactive.contains(user) {
                        loader.follow_team(*user, *team);
                    }
                }
                let Some(follow) = last(&follows) else {
                    tx.team_leagues()?.into_iter().for_each(|(team, league)| loader.league(team, league));
                    return Ok(Loading::Whole);
                };
                LoadCursor::TeamFollows(Some(follow))
            }
        };
        *place = next;
        Ok(Loading::More)
    }

    fn finish(draft: &Mutex<Draft>) -> Self {
        let draft = mem::take(&mut *draft.lock().unwrap_or_else(PoisonError::into_inner));
        Self(draft.loader.finish())
    }

    fn look_up(tx: &mut dyn LiveReadTx, events: &[Event]) -> Result<EventEffects<GraphChanges>, StoreError> {
        let concerned = Concerned::of(events);
        let mut changes = GraphChanges::default();
        let mut reload = concerned.everything;

        let there: HashSet<_> = tx.follows_among(&concerned.follows)?.into_iter().collect();
        changes.follows = with_presence(concerned.follows, &there);
        let there: HashSet<_> = tx.team_follows_among(&concerned.team_follows)?.into_iter().collect();
        changes.team_follows = with_presence(concerned.team_follows, &there);
        if !concerned.members.is_empty() {
            let members: Vec<UserId> = concerned.members.into_iter().collect();
            changes.members = tx.members_among(&members)?;
        }
        for member in &changes.members {
            if !member.is_active {
                changes.gone.push(member.user);
            } else if concerned.restored.contains(&member.user) {
                match tx.edges_of(member.user, MOST_EDGES)? {
                    Some(edges) => changes.restored.push((member.user, edges)),
                    None => reload = true,
                }
            }
        }
        let is_new = |member: &Member| member.is_active && member.favorite_team.is_some();
        if !changes.team_follows.is_empty() || changes.members.iter().any(is_new) {
            // There are some hundred teams, and one of them may be new.
            changes.leagues = tx.team_leagues()?;
        }
        Ok(EventEffects { changes, reload })
    }

    fn apply(&mut self, changes: GraphChanges) {
        let Self(graph) = self;
        for ((user, followed), is_there) in changes.follows {
            if is_there {
                graph.follow(user, followed);
            } else {
                graph.unfollow(user, followed);
            }
        }
        for ((user, team), is_there) in changes.team_follows {
            if is_there {
                graph.follow_team(user, team);
            } else {
                graph.unfollow_team(user, team);
            }
        }
        for (user, edges) in changes.restored {
            for (from, to) in edges.follows {
                graph.follow(from, to);
            }
            for team in edges.teams {
                graph.follow_team(user, team);
            }
        }
        for member in changes.members {
            graph.set_favorite_team(member.user, member.favorite_team);
        }
        for (team, league) in changes.leagues {
            graph.set_league(team, Some(league));
        }
        // Last: edges looked up a moment ago are removed with the user.
        for user in changes.gone {
            graph.remove_person(user);
        }
    }
}

/// The last row of a full portion; `None` if the portion is not full.
fn last<T: Copy>(rows: &[T]) -> Option<T> {
    let is_full = u32::try_from(rows.len()).is_ok_and(|count| count >= PORTION);
    rows.last().copied().filter(|_| is_full)
}

fn with_presence<E: Copy + Eq + std::hash::Hash>(asked: Vec<E>, there: &HashSet<E>) -> Vec<(E, bool)> {
    asked.into_iter().map(|edge| (edge, there.contains(&edge))).collect()
}

/// The items that events refer to, without duplicates.
#[derive(Default)]
struct Concerned {
    follows: Vec<(UserId, UserId)>,
    team_follows: Vec<(UserId, TeamId)>,
    members: BTreeSet<UserId>,
    restored: BTreeSet<UserId>,
    everything: bool,
}

impl Concerned {
    fn of(events: &[Event]) -> Self {
        let mut concerned = Self::default();
        for event in events {
            let subject = event.what.subject;
            let user = UserId::from_uuid(subject);
            match (event.what.kind, event.what.actor) {
                (EventKind::UserFollowed | EventKind::UserUnfollowed, Some(actor)) => {
                    concerned.follows.push((actor, user));
                }
                (EventKind::UserBlocked, Some(actor)) => {
                    concerned.follows.extend([(actor, user), (user, actor)]);
                }
                (EventKind::TeamFollowed | EventKind::TeamUnfollowed, Some(actor)) => {
                    concerned.team_follows.push((actor, TeamId::from_uuid(subject)));
                }
                (EventKind::ProfileChanged | EventKind::AccountDeleted | EventKind::AccountSuspended, _) => {
                    concerned.members.insert(user);
                }
                (EventKind::AccountRestored, _) => {
                    concerned.members.insert(user);
                    concerned.restored.insert(user);
                }
                (EventKind::FollowsImported, _) => concerned.everything = true,
                (_, _) => {}
            }
        }
        concerned.follows = distinct(mem::take(&mut concerned.follows));
        concerned.team_follows = distinct(mem::take(&mut concerned.team_follows));
        concerned
    }
}
