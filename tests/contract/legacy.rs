//! Spec §1 rule 13, seeding and setup: the tables of an older system are imported whole, once, and never by a
//! guess; the scoring rules hold for their records, and derived data agrees with them afterwards.

use super::completions::verified;
use super::points::{active, board_of, global, ledger, points_on, seasons};
use super::quests::{quest, step, with_quests};
use anyhow::Result;
use std::fmt::Write;
use std::io::{self, Cursor, Read};
use terrace_testkit::app::graph::{BlockUser, FollowUser};
use terrace_testkit::identity::{Password, Username};
use terrace_testkit::kernel::{Clock, EventKind, UserId, Uuid};
use terrace_testkit::ops;
use terrace_testkit::ops::legacy::{
    LegacyError, LegacyMoved, LegacyReport, LegacyRow, LegacySource, LegacyTable, LegacyTeamFollow,
    MoveRefusal, RowSum, import_id,
};
use terrace_testkit::quests::{Period, RunStatus};
use terrace_testkit::scoring::{SeasonId, SeasonStatus};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_tables_are_imported_once,
    scoring_rules_2_to_6_records_count_on_their_season_and_board,
    scoring_rule_6_records_without_a_season_are_kept_and_never_counted,
    progress_is_matched_by_titles_and_the_rest_is_reported,
    spec_1_rule_3_impossible_follows_are_left_out,
    bad_rows_are_reported_by_file_and_line_and_nothing_is_written,
    a_taken_name_is_reported_before_and_after_the_check,
    an_interrupted_import_resumes_where_it_stopped,
    staged_rows_are_discarded_where_their_meaning_changed,
    records_that_changed_are_refused,
    a_closed_account_receives_nothing,
}

const SEASON: &str = "id,key,name,startsAt,endsAt\n\
    s0,0,Season 0,2020-01-01T00:00:00Z,2025-06-01T00:00:00Z\n\
    s3,0.3,Season 0.3,2024-01-01T00:00:00Z,2024-06-01T00:00:00Z\n\
    s5,0.5,Season 0.5,2025-06-01T00:00:00Z,\n";
const TEAM: &str = "id,key,name\nt1,rovers,Rovers\nt2,,ghost fc\n";
const LEADERBOARD: &str = "id,teamId,seasonId\nb1,t1,\nb2,t2,\nb5,,s5\n";
const QUEST: &str = "id,title\nq1,up THE  ladder\nq2,Long gone\n";
const STEP: &str = "id,questId,title\nqs1,q1,One\nqs2,q1,two\nqs3,q1,Sing\nqs4,q2,One\n";
const USER: &str = "id,username,displayName,email,bio,favouriteTeamId,timeZone,createdAt\n\
    u1,mia,Mia,mia@example.org,\"Two\nlines, \"\"quoted\"\"\",t1,Europe/Berlin,2024-01-01T10:00:00Z\n\
    u2,Bo.B,Bo,,,,,2024-02-01T10:00:00Z\n\
    u3,cyd,Cy,,,t2,,2024-03-01T10:00:00Z\n";
const POINTS: &str = "id,userId,amount,reason,seasonId,leaderboardId,createdAt\n\
    p1,u1,10,A goal,s5,b1,2025-07-01T10:00:00Z\n\
    p2,u1,5,A guess,s5,,2025-07-02T10:00:00Z\n\
    p3,u1,100,Long ago,,,2021-07-01T10:00:00Z\n\
    p4,u2,7,Long ago,s0,b1,2021-07-01T10:00:00Z\n\
    p5,u2,20,Early,s3,b1,2024-02-01T10:00:00Z\n\
    p6,u3,3,Elsewhere,s5,b2,2025-07-01T10:00:00Z\n\
    p7,u2,-4,Taken back,s5,b1,2025-07-03T10:00:00Z\n\
    p8,u2,9,Global,s5,b5,2025-07-03T10:00:00Z\n\
    p1,u1,10,A goal,s5,b1,2025-07-01T10:00:00Z\n";
const RUNS: &str = "id,userId,questId,status,startedAt,completedAt\n\
    1,u1,q1,completed,2025-07-01T10:00:00Z,2025-07-02T10:00:00Z\n\
    2,u2,q1,active,2025-07-01T10:00:00Z,\n\
    3,u2,q2,active,2025-07-01T10:00:00Z,\n";
const STEPS: &str = "userId,questStepId,completedAt\n\
    u1,qs1,2025-07-01T11:00:00Z\nu1,qs2,2025-07-02T10:00:00Z\nu3,qs1,2025-07-01T10:00:00Z\n\
    u3,qs3,2025-07-01T10:00:00Z\nu3,qs4,2025-07-01T10:00:00Z\n";
const ENTRIES: &str = "leaderboardId,userId,points,createdAt\n\
    b1,u1,10,2025-07-01T10:00:00Z\nb1,u3,0,2025-07-01T10:00:00Z\nb2,u3,3,2025-07-01T10:00:00Z\n\
    b5,u1,14,2025-07-01T10:00:00Z\n";
const FOLLOW: &str = "followerId,followedId,teamId,createdAt\n\
    u1,u2,,2025-07-01T10:00:00Z\nu2,u1,,2025-07-01T10:00:00Z\nu1,u2,,2025-07-02T10:00:00Z\n\
    u3,u3,,2025-07-01T10:00:00Z\nu3,u1,,2025-07-01T10:00:00Z\nu1,,t1,2025-07-01T10:00:00Z\n\
    u2,,t2,2025-07-01T10:00:00Z\n";

pub(crate) const ALL: [(LegacyTable, &str); 11] = [
    (LegacyTable::Season, SEASON),
    (LegacyTable::Team, TEAM),
    (LegacyTable::Leaderboard, LEADERBOARD),
    (LegacyTable::Quest, QUEST),
    (LegacyTable::QuestStep, STEP),
    (LegacyTable::User, USER),
    (LegacyTable::PointsHistory, POINTS),
    (LegacyTable::UserQuestStatus, RUNS),
    (LegacyTable::UserStepStatus, STEPS),
    (LegacyTable::LeaderboardEntry, ENTRIES),
    (LegacyTable::Follow, FOLLOW),
];

pub(super) fn service(kind: DatabaseKind) -> Result<TestApp> {
    let service = with_quests(kind)?;
    service.team("rovers");
    Ok(service)
}

pub(super) fn sources(files: &[(LegacyTable, String)]) -> Vec<LegacySource> {
    let source = |(table, text): &(LegacyTable, String)| {
        let text = text.clone();
        let open = move || Ok(Box::new(Cursor::new(text.clone().into_bytes())) as Box<dyn Read>);
        LegacySource { table: *table, name: format!("{table}.csv"), open: Box::new(open) }
    };
    files.iter().map(source).collect()
}

/// The files of all tables, with `others` in place of the usual ones.
pub(super) fn files(others: &[(LegacyTable, &str)]) -> Vec<(LegacyTable, String)> {
    let other = |table| others.iter().find(|(other, _)| *other == table).map(|(_, text)| *text);
    ALL.iter().map(|(table, text)| (*table, other(*table).unwrap_or(text).to_owned())).collect()
}

pub(super) fn check(service: &TestApp, files: &[(LegacyTable, String)]) -> Result<LegacyReport, LegacyError> {
    service.run(ops::legacy::check_legacy(service.app(), &sources(files), &mut |_| Ok(())))
}

pub(super) fn import(service: &TestApp, files: &[(LegacyTable, String)]) -> Result<LegacyMoved, LegacyError> {
    let checked = check(service, files)?;
    let (sources, app) = (sources(files), service.app());
    let id = import_id(&sources, &checked)?;
    service.run(ops::legacy::import_legacy(app, id, &sources, &checked, &mut |_| Ok(())))
}

pub(super) fn agrees(service: &TestApp) {
    verified(service);
    let ledger = service.run(ops::verify_ledger(service.app())).expect("a working store");
    assert_eq!(ledger.wrong(), 0, "{ledger:?}");
}

/// The id of the fan with this name.
fn named(service: &TestApp, name: &'static str) -> UserId {
    let key = Username::parse(name).expect("a name").key().to_owned();
    service.ask(move |tx| tx.credentials_by_key(&key)).expect("an account").user_id
}

fn sum(rows: u64, points: i64) -> RowSum {
    RowSum { rows, points }
}

fn spec_1_rule_13_tables_are_imported_once(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let before = service.settled();
    let first = import(&service, &files(&[]))?;
    assert_eq!(
        (first.users, first.records, first.seasons),
        (3, 9, 1),
        "eight of the file, and a completed quest"
    );
    assert_eq!((first.runs, first.steps, first.entries), (3, 3, 3));
    assert_eq!((first.follows, first.team_follows), (3, 1));
    // Counts and sums, in and out, by season.
    let tally = &first.tally;
    assert_eq!(tally.points_in, tally.points_out);
    let key = |season: &Option<SeasonId>| season.map(|id| first.season_keys[&id].clone());
    let sums: Vec<_> = tally.points_in.iter().map(|(season, sum)| (key(season), *sum)).collect();
    let expected =
        [(None, sum(2, 107)), (Some("0.3".to_owned()), sum(1, 20)), (Some("0.5".to_owned()), sum(5, 23))];
    assert!(expected.iter().all(|one| sums.contains(one)) && sums.len() == 3, "{sums:?}");
    assert_eq!((tally.entries_in, tally.entries_out), (sum(3, 24), sum(3, 25)));
    agrees(&service);

    let mia = named(&service, "mia");
    let account = service.ask(move |tx| tx.account(mia)).expect("an account");
    assert_eq!(account.bio, "Two\nlines, \"quoted\"");
    assert_eq!((account.follower_count, account.following_count), (2, 1));
    assert_eq!(account.time_zone.name(), "Europe/Berlin");
    assert_eq!(account.favorite_team, Some(service.ask(|tx| tx.team_by_key("rovers")).expect("a team")));
    // No imported fan can sign in before an operator has set a password.
    let reset = service.app().reset_password("MIA", Some(Password::choose("a new password".to_owned())?));
    assert!(service.run(reset).is_ok());
    let events = service.log(before);
    assert_eq!(events.iter().filter(|event| event.what.kind == EventKind::FollowsImported).count(), 1);

    // Again: everything exists already, and no fan is paid.
    let records = ledger(&service, mia);
    let again = import(&service, &files(&[]))?;
    let nothing = LegacyMoved {
        tally: again.tally.clone(),
        season_keys: again.season_keys.clone(),
        ..LegacyMoved::default()
    };
    assert_eq!(again, nothing);
    assert_eq!(again.tally.points_out, first.tally.points_out);
    assert_eq!(ledger(&service, mia), records);
    agrees(&service);
    Ok(())
}

fn scoring_rules_2_to_6_records_count_on_their_season_and_board(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    import(&service, &files(&[]))?;
    let [mia, bo, cy] = ["mia", "bo.b", "cyd"].map(|name| named(&service, name));
    let (now, rovers) = (active(&service).id, service.ask(|tx| tx.team_by_key("rovers")).expect("a team"));
    let all = seasons(&service);
    let early = all.iter().find(|season| season.key.as_str() == "0.3").expect("the new season");
    assert_eq!(early.status, SeasonStatus::Closed);
    let (world, then, team) = (global(&service, now), global(&service, early.id), board_of(&service, rovers));
    let on = |user, season, board| points_on(&service, user, season, board);
    // Rule 3: all rows of the season; rule 2: those that name the board; rule 5: a record without a board
    // counts globally.
    assert_eq!((on(mia, now, world), on(mia, now, team)), (Some(15), Some(10)));
    assert_eq!((on(bo, now, world), on(bo, now, team)), (Some(5), Some(-4)));
    assert_eq!((on(bo, early.id, then), on(bo, early.id, team)), (Some(20), Some(20)));
    // Her team did not match.
    assert_eq!((on(cy, now, world), on(cy, now, team)), (Some(3), None));
    // All of the points can be spent.
    for (fan, points) in [(mia, 115), (bo, 32), (cy, 3)] {
        let balances = service.ask(move |tx| tx.balances(fan));
        assert_eq!(balances.iter().map(|balance| balance.amount).collect::<Vec<_>>(), [points]);
    }
    Ok(())
}

fn scoring_rule_6_records_without_a_season_are_kept_and_never_counted(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    import(&service, &files(&[]))?;
    for (name, source, points) in
        [("mia", "import:PointsHistory/p3", 100), ("bo.b", "import:PointsHistory/p4", 7)]
    {
        let fan = named(&service, name);
        let records = ledger(&service, fan);
        let record = records.iter().find(|record| record.source.to_string() == source).expect("the record");
        assert_eq!((record.season, record.board, record.amount.get()), (None, None, points));
    }
    // Season 0 ends where the first counted season begins.
    let all = seasons(&service);
    let spans: Vec<_> = all.iter().map(|season| (season.key.as_str(), season.status)).collect();
    assert_eq!(
        spans,
        [("0", SeasonStatus::Legacy), ("0.3", SeasonStatus::Closed), ("0.5", SeasonStatus::Active)]
    );
    Ok(())
}

fn progress_is_matched_by_titles_and_the_rest_is_reported(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let checked = check(&service, &files(&[]))?;
    let left: Vec<_> = checked
        .left_out
        .iter()
        .map(|(table, kind, lines)| {
            let (line, about) = &lines.first()[0];
            format!("{table}:{line}: {kind}: {about} ({})", lines.count())
        })
        .collect();
    for expected in [
        "Team:3: no team of the service has this key or name: ghost fc (1)",
        "Quest:3: no quest of the service has this key or title: Long gone (1)",
        "QuestStep:4: no step of the service has this key or title: up THE  ladder / Sing (1)",
        "QuestStep:5: no quest of the service has this key or title: Long gone / One (1)",
        "UserStepStatus:5: its step did not match: qs3 (2)",
        "UserQuestStatus:4: its quest did not match: Long gone (1)",
        "PointsHistory:7: the team of its board did not match: it has no board: p6 (1)",
        "User:5: the favourite team did not match: it is left empty: cyd (1)",
    ] {
        assert!(left.iter().any(|line| line == expected), "{expected}\n{left:#?}");
    }
    import(&service, &files(&[]))?;
    let (ladder, one) = (quest(&service, "ladder"), step(&service, "ladder/one"));
    let run = |name| {
        let fan = named(&service, name);
        service.ask(move |tx| tx.runs(fan, &[(ladder, Period::Once)])).into_iter().next()
    };
    let (mias, done) = run("mia").expect("a run");
    assert_eq!((mias.status, done.len()), (RunStatus::Completed, 2));
    // A completed step without a run of its quest begins one.
    let (cys, done) = run("cyd").expect("a run");
    assert_eq!(
        (cys.status, done.iter().map(|done| done.step).collect::<Vec<_>>()),
        (RunStatus::Active, vec![one])
    );
    // The completed quest is found by its record, which pays nothing; the step is not paid again here.
    let mia = named(&service, "mia");
    assert!(
        ledger(&service, mia)
            .iter()
            .any(|record| record.reason == "Up the ladder" && record.amount.get() == 0)
    );
    Ok(())
}

fn spec_1_rule_3_impossible_follows_are_left_out(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let users = files(&[(LegacyTable::Follow, "followerId,followedId,teamId,createdAt\n")]);
    import(&service, &users)?;
    let [mia, cy] = ["mia", "cyd"].map(|name| named(&service, name));
    service.done(BlockUser { fan: mia, other: cy });
    let checked = check(&service, &files(&[]))?;
    let selves = checked.left_out.iter().find(|(_, kind, ..)| *kind == "a fan who follows themselves");
    assert_eq!(selves.map(|(table, _, lines)| (table, lines.count())), Some((LegacyTable::Follow, 1)));
    let moved = import(&service, &files(&[]))?;
    // Of five readable rows one is a duplicate, and one is beside a block.
    assert_eq!((checked.rows_of("follows"), moved.tally.staged["follows"], moved.follows), (4, 3, 2));
    agrees(&service);
    Ok(())
}

fn bad_rows_are_reported_by_file_and_line_and_nothing_is_written(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let bad_users = "id,username,displayName,createdAt\n\
        u1,mia,Mia,2024-01-01T10:00:00Z\n\
        u1,other,Other,2024-01-01T10:00:00Z\n\
        u4,MIA,Mia,2024-01-01T10:00:00Z\n\
        u5,x,X,2024-01-01T10:00:00Z\n\
        u6,xyz,X,yesterday\n\
        u7,abc,X,2999-01-01T10:00:00Z\n\
        u8,abc\n";
    let bad_points = format!(
        "id,userId,amount,reason,seasonId,leaderboardId,createdAt\n\
         a b,u1,1,A goal,,,2024-01-01T10:00:00Z\n{}p3,u1,9999999999,A goal,,,2024-01-01T10:00:00Z\n\
         p4,u1,1,A goal,s9,,2024-01-01T10:00:00Z\n",
        "p2,u9,1,A goal,,,2024-01-01T10:00:00Z\n".repeat(1_500)
    );
    let head = "followerId,followedId,createdAt\n";
    let others = [
        (LegacyTable::User, bad_users),
        (LegacyTable::PointsHistory, bad_points.as_str()),
        (LegacyTable::UserQuestStatus, "userId,questId,status,startedAt,completedAt\n"),
        (LegacyTable::UserStepStatus, "userId,questStepId,completedAt\n"),
        (LegacyTable::LeaderboardEntry, "leaderboardId,userId,points,createdAt\n"),
        (LegacyTable::Follow, head),
    ];
    let checked = check(&service, &files(&others))?;
    let bad: Vec<_> = checked
        .bad
        .iter()
        .map(|(table, kind, lines)| {
            let (first, count) = (lines.first(), lines.count());
            format!("{table}:{}: {kind} ({count}, {} shown)", first[0].0, first.len())
        })
        .collect();
    for expected in [
        "User:3: has an id that came before (1, 1 shown)",
        "User:4: has a username that came before (1, 1 shown)",
        "User:5: username (1, 1 shown)",
        "User:6: createdAt (1, 1 shown)",
        "User:7: has a time that has not come (1, 1 shown)",
        "User:8: has another number of fields than the header (1, 1 shown)",
        "PointsHistory:2: has an id that is not 1 to 50 letters, digits, '.', '_', '/' or '-' (1, 1 shown)",
        "PointsHistory:3: names a fan that is not in User.csv (1500, 20 shown)",
        "PointsHistory:1503: amount is out of bounds (1, 1 shown)",
        "PointsHistory:1504: names a season that Season.csv does not have (1, 1 shown)",
    ] {
        assert!(bad.iter().any(|line| line == expected), "{expected}\n{bad:#?}");
    }
    assert_eq!(checked.bad_records(), 6 + 1_503);
    // This was only the check.
    assert_eq!(service.ask(|tx| tx.fans_after(None, 10)), []);
    for (text, words) in [
        ("", "is empty"),
        ("id,username\n", "has no column displayName"),
        ("id,username,displayName,createdAt,colour\n", "has a column \"colour\""),
        ("id,id,username,displayName,createdAt\n", "has the column id twice"),
        ("\u{ff}\n", "has a column"),
    ] {
        let refused = check(&service, &files(&[(LegacyTable::User, text)]));
        let Err(LegacyError::Header { file, words: why }) = refused else { panic!("{text:?}: {refused:?}") };
        assert!(file == "User.csv" && why.contains(words), "{why}");
    }
    // Without the bad rows, the good one is imported.
    assert_eq!(import(&service, &files(&others))?.users, 1);
    agrees(&service);
    Ok(())
}

fn a_taken_name_is_reported_before_and_after_the_check(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let checked = check(&service, &files(&[]))?;
    service.fan("Mia");
    // The imported rows differ from those that were checked.
    let sources = sources(&files(&[]));
    let id = import_id(&sources, &checked)?;
    let changed =
        service.run(ops::legacy::import_legacy(service.app(), id, &sources, &checked, &mut |_| Ok(())));
    assert!(matches!(changed, Err(LegacyError::Changed)), "{changed:?}");
    let checked = check(&service, &files(&[]))?;
    let taken =
        checked.bad.iter().find(|(_, kind, ..)| *kind == "has a username that another account has here");
    assert_eq!(
        taken.map(|(table, _, lines)| (table, lines.count(), lines.first()[0].0)),
        Some((LegacyTable::User, 1, 2))
    );
    assert_eq!(service.ask(|tx| tx.fans_after(None, 10)).len(), 1);
    Ok(())
}

/// Staged rows were read with the teams of their time: where the teams differ now, the rows are read again.
fn staged_rows_are_discarded_where_their_meaning_changed(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let checked = check(&service, &files(&[]))?;
    let id = import_id(&sources(&files(&[])), &checked)?;
    service.write(move |tx, ctx| Ok(tx.begin_import(id, ctx.now())?));
    let row = LegacyRow::TeamFollow(LegacyTeamFollow {
        user: UserId::from_uuid(Uuid::from_u128(1)),
        team: service.team("united"),
        at: service.clock().now(),
    });
    assert!(service.write(move |tx, ctx| Ok(tx.stage(id, 0, std::slice::from_ref(&row), ctx.now())?)));
    let now = check(&service, &files(&[]))?;
    assert_ne!(import_id(&sources(&files(&[])), &now)?, id);
    // The staged row of the other import is gone.
    let moved = import(&service, &files(&[]))?;
    assert_eq!((moved.tally.staged["team_follows"], moved.users), (1, 3));
    agrees(&service);
    Ok(())
}

/// Killed while rows are staged: an import of the same files skips those, an import of other files discards
/// them.
fn an_interrupted_import_resumes_where_it_stopped(kind: DatabaseKind) -> Result<()> {
    const FANS: usize = 2_500;
    let service = service(kind)?;
    let mut users = "id,username,displayName,createdAt\n".to_owned();
    for n in 0..FANS {
        writeln!(users, "u{n},fan{n},Fan {n},2024-01-01T10:00:00Z")?;
    }
    let files = [(LegacyTable::User, users)];
    let checked = check(&service, &files)?;
    let (sources, app) = (sources(&files), service.app());
    let id = import_id(&sources, &checked)?;
    let mut seen = 0;
    let mut stop = |_| {
        seen += 1;
        if seen > 2 { Err(io::Error::other("stopped")) } else { Ok(()) }
    };
    let stopped = service.run(ops::legacy::import_legacy(app, id, &sources, &checked, &mut stop));
    assert!(matches!(stopped, Err(LegacyError::Read { .. })), "{stopped:?}");
    // The staged rows are not visible.
    assert_eq!(service.ask(|tx| tx.fans_after(None, 10)), []);
    let staged = service.write(move |tx, ctx| Ok(tx.begin_import(id, ctx.now())?));
    assert!((1_000..2_500).contains(&staged), "{staged}");
    let moved = import_with(&service, id, &sources, &checked)?;
    assert_eq!(moved.users, 2_500);
    // A finished import has no staged rows, and starts again from its beginning.
    assert_eq!(service.write(move |tx, ctx| Ok(tx.begin_import(id, ctx.now())?)), 0);
    assert_eq!(import_with(&service, id, &sources, &checked)?.users, 0);
    agrees(&service);
    Ok(())
}

fn import_with(
    service: &TestApp,
    id: terrace_testkit::ops::legacy::ImportId,
    sources: &[LegacySource],
    checked: &LegacyReport,
) -> Result<LegacyMoved, LegacyError> {
    service.run(ops::legacy::import_legacy(service.app(), id, sources, checked, &mut |_| Ok(())))
}

fn records_that_changed_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    import(&service, &files(&[]))?;
    let head = service.settled();
    let other = POINTS.replace("p5,u2,20", "p5,u2,21");
    let refused = import(&service, &files(&[(LegacyTable::PointsHistory, &other)]));
    let Err(LegacyError::Move(why)) = refused else { panic!("{refused:?}") };
    assert_eq!(why, MoveRefusal::Changed(1));
    assert_eq!(service.log(head).len(), 0);
    agrees(&service);
    // A new record is imported.
    let more = format!("{POINTS}p9,u3,11,Late,s5,,2025-08-01T10:00:00Z\n");
    assert_eq!(import(&service, &files(&[(LegacyTable::PointsHistory, &more)]))?.records, 1);
    agrees(&service);
    Ok(())
}

fn a_closed_account_receives_nothing(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    import(&service, &files(&[(LegacyTable::PointsHistory, POINTS.lines().next().unwrap_or_default())]))?;
    let [mia, bo] = ["mia", "bo.b"].map(|name| named(&service, name));
    service
        .run(service.app().reset_password("mia", Some(Password::choose("a new password".to_owned())?)))
        .ok();
    service.write(move |tx, ctx| Ok(tx.close_account(mia, "Deleted fan", ctx.now())?));
    service.done(FollowUser { fan: bo, other: named(&service, "cyd") });
    let moved = import(&service, &files(&[]))?;
    assert_eq!((moved.users, moved.tally.points_left), (0, sum(3, 115)));
    assert_eq!(moved.tally.points_changed, 0);
    // An existing record stays: the one by which the completed quest is found.
    assert_eq!(ledger(&service, mia).len(), 1);

    Ok(())
}
