//! The HTTP contract, part 2, section 10: reports keep what was reported, and moderators decide them.

use super::counters::post;
use super::media;
use super::repairs::{repair_counts, verified};
use anyhow::{Result, ensure};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::room::{
    CreateComment, DeleteComment, DeletePost, EditComment, EditPost, GetComment, GetPost, ReportComment,
    ReportPost,
};
use terrace_testkit::identity::Password;
use terrace_testkit::kernel::{CommentId, Event, EventKind, Failure, PostId, Topic, UserId, Uuid};
use terrace_testkit::ops::maintenance::{MaintenanceHistory, RunState};
use terrace_testkit::ops::reports::{
    DecideRefusal, DecideReports, DecidedContent, Decision, ListReports, NoReports, Report, ReportFilter,
    ReportedContent, ShowReports, ShownReports, Verdict, decide_reports, reported_picture,
};
use terrace_testkit::{DatabaseKind, Fan, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_report_keeps_the_text_after_an_edit_and_a_deletion,
    dismissed_content_stays_and_the_same_fan_reports_it_once,
    removed_content_is_gone_as_if_deleted_by_its_author,
    a_decision_of_many_is_made_whole_or_not_at_all,
    of_many_decisions_at_once_one_is_made,
    content_of_a_suspended_author_is_removed,
    an_undecided_report_ends_after_90_days,
    reports_are_erased_with_the_author_and_with_the_reporter,
    a_reported_picture_is_kept_until_the_decision,
    existing_reports_are_moved,
}

const DAY: Duration = Duration::from_hours(24);

fn comment(service: &TestApp, author: UserId, post: PostId) -> CommentId {
    service.done(CreateComment { author, post, body: "And the rebound!".to_owned() }).comment.id
}

fn report(service: &TestApp, fan: UserId, post: PostId) {
    service.done(ReportPost { fan, post, reason: "Spam".to_owned() });
}

fn report_comment(service: &TestApp, fan: UserId, post: PostId, comment: CommentId) {
    service.done(ReportComment { fan, post, comment, reason: "Insult".to_owned() });
}

fn decision(verdict: Verdict, ids: impl IntoIterator<Item = Uuid>) -> DecideReports {
    DecideReports { ids: ids.into_iter().collect(), verdict, by: "kim of the night shift".to_owned() }
}

fn shown(service: &TestApp, id: Uuid) -> ShownReports {
    service.found(ShowReports { id })
}

fn bodies(service: &TestApp, id: Uuid) -> Vec<Option<String>> {
    shown(service, id).reports.into_iter().map(|report| report.body).collect()
}

fn list(service: &TestApp, filter: ReportFilter) -> Vec<ReportedContent> {
    let list = service.found(ListReports { filter, limit: 50, skip: 0 });
    assert_eq!(list.total, u64::try_from(list.content.len()).expect("a number"));
    list.content
}

fn undecided(service: &TestApp) -> Vec<Uuid> {
    list(service, ReportFilter::Undecided).into_iter().map(|found| found.content.id).collect()
}

fn catch_up(service: &TestApp) {
    for _ in 0..2 {
        service.settled();
        service.run(service.app().catch_up_consumers()).expect("working consumers");
    }
}

fn delete_account(service: &TestApp, fan: &Fan) {
    let viewer = service.viewer(fan.cookie).expect("a session");
    let password = Password::offer(PASSWORD.to_owned());
    service.run(service.app().delete_account(&viewer, password)).expect("an end");
}

/// Task, arguments and counts of a run in the journal.
type JournalRow = (String, String, Vec<(String, u64)>);

/// The runs in the journal, oldest first.
fn journal(service: &TestApp) -> Vec<JournalRow> {
    let runs = service.found(MaintenanceHistory { limit: 100 }).into_iter().rev();
    runs.map(|(run, state)| {
        assert_eq!((state, run.started_by.as_str()), (RunState::Succeeded, "kim of the night shift"));
        (run.task, run.arguments, run.counts.into_iter().collect())
    })
    .collect()
}

fn counts<const N: usize>(counts: [(&str, u64); N]) -> Vec<(String, u64)> {
    counts.into_iter().map(|(kind, rows)| (kind.to_owned(), rows)).collect()
}

fn a_report_keeps_the_text_after_an_edit_and_a_deletion(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let comment = comment(&service, mia, post);
    report(&service, bo, post);
    report_comment(&service, bo, post, comment);
    service.clock().advance(Duration::from_secs(1));
    service.done(EditPost { user: mia, post, body: "Nothing to see".to_owned() });
    service.done(EditComment { user: mia, post, comment, body: "Nothing here".to_owned() });
    report(&service, kim, post);

    let kept = |text: &str| Some(text.to_owned());
    let shown = shown(&service, post.as_uuid());
    assert_eq!(shown.current.expect("a post").body, "Nothing to see");
    assert_eq!((shown.summary.author.as_str(), shown.summary.exists, shown.post), ("mia", true, None));
    let both = [kept("Who was best?"), kept("Nothing to see")];
    assert_eq!(bodies(&service, post.as_uuid()), both);
    let of_comment = service.found(ShowReports { id: comment.as_uuid() });
    assert_eq!(of_comment.current.expect("a comment").body, "Nothing here");
    assert_eq!(of_comment.post.expect("its post").body, "Nothing to see");
    assert_eq!(bodies(&service, comment.as_uuid()), [kept("And the rebound!")]);
    let listed = list(&service, ReportFilter::Undecided);
    let reports: Vec<_> = listed.iter().map(|found| (found.content.id, found.reports)).collect();
    assert_eq!(reports, [(post.as_uuid(), 2), (comment.as_uuid(), 1)]);

    service.done(DeleteComment { user: mia, post, comment });
    service.done(DeletePost { user: mia, post });
    catch_up(&service);
    assert!(service.write(move |tx, _| Ok(tx.remove_deleted_post(post, 1)?)), "the post is gone");
    assert_eq!(bodies(&service, post.as_uuid()), both);
    assert_eq!(bodies(&service, comment.as_uuid()), [kept("And the rebound!")]);
    let listed = list(&service, ReportFilter::Undecided);
    assert!(listed.len() == 2 && listed.iter().all(|found| !found.exists), "{listed:?}");
    // Nothing is left of what is dismissed after a deletion.
    let ids = [post.as_uuid(), comment.as_uuid()];
    let decided = service.done(decision(Verdict::Dismiss, ids));
    assert!(decided.iter().all(|one| !one.existed), "{decided:?}");
    assert_eq!(list(&service, ReportFilter::All), []);
    verified(&service);
    Ok(())
}

fn dismissed_content_stays_and_the_same_fan_reports_it_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let post = post(&service, mia);
    let comment = comment(&service, mia, post);
    report(&service, bo, post);
    report_comment(&service, bo, post, comment);
    let before = service.settled();
    service.done(decision(Verdict::Dismiss, [post.as_uuid(), comment.as_uuid()]));
    assert_eq!(service.log(before), []);
    service.found(GetPost { post, reader: None });
    service.found(GetComment { post, comment, reader: None });
    assert_eq!(bodies(&service, post.as_uuid()), [None]);
    report(&service, bo, post);
    report_comment(&service, bo, post, comment);
    assert_eq!(undecided(&service), Vec::<Uuid>::new());
    assert_eq!(list(&service, ReportFilter::All).len(), 2);
    // Another fan's report waits for a decision of its own.
    let decided_at = service.app().now();
    service.clock().advance(Duration::from_secs(1));
    report(&service, kim, post);
    assert_eq!(undecided(&service), [post.as_uuid()]);
    let decisions: Vec<_> = shown(&service, post.as_uuid()).reports.iter().map(|one| one.decided).collect();
    assert_eq!(decisions, [Some((Decision::Dismissed, decided_at)), None]);

    // Decided reports go with their content.
    service.done(decision(Verdict::Dismiss, [post.as_uuid()]));
    service.done(DeleteComment { user: mia, post, comment });
    assert_eq!(service.not_found(ShowReports { id: comment.as_uuid() }), NoReports(comment.as_uuid()));
    service.done(DeletePost { user: mia, post });
    catch_up(&service);
    assert_eq!(list(&service, ReportFilter::All), []);
    let dismissed =
        |id: Uuid| ("dismiss-reports".to_owned(), format!("reports dismiss {id}"), counts([("reports", 1)]));
    let mut journal = journal(&service);
    journal[..2].sort();
    let mut first = [post.as_uuid(), comment.as_uuid()].map(dismissed);
    first.sort();
    assert_eq!((&journal[..2], &journal[2..]), (&first[..], &[dismissed(post.as_uuid())][..]));
    Ok(())
}

fn removed_content_is_gone_as_if_deleted_by_its_author(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let posts = [(); 2].map(|()| post(&service, mia));
    let comments = posts.map(|post| comment(&service, bo, post));
    let (deleted, removed) = (0, 1);
    for fan in [mia, kim] {
        report(&service, fan, posts[removed]);
        report_comment(&service, fan, posts[removed], comments[removed]);
    }
    // Without the notifications of the authors.
    let what = |events: Vec<Event>| {
        let all = events.into_iter().map(|event| event.what);
        all.filter(|event| event.topic == Topic::LockerRoom).collect::<Vec<_>>()
    };
    let before = service.settled();
    service.done(DeleteComment { user: bo, post: posts[deleted], comment: comments[deleted] });
    service.done(DeletePost { user: mia, post: posts[deleted] });
    let mut by_authors = what(service.log(before));
    for event in &mut by_authors {
        event.subject = posts[removed].as_uuid();
        event.object = event.object.map(|_| comments[removed].as_uuid());
    }

    let before = service.settled();
    let [one] = service.done(decision(Verdict::Remove, [comments[removed].as_uuid()]))[..] else {
        panic!("one decision")
    };
    assert!(one.existed && one.reports == 2, "{one:?}");
    let view = other.found(GetPost { post: posts[removed], reader: None });
    assert_eq!(view.post.comment_count, 0);
    service.done(decision(Verdict::Remove, [posts[removed].as_uuid()]));
    assert_eq!(what(service.log(before)), by_authors);
    for service in [&service, &other] {
        service.not_found(GetComment { post: posts[removed], comment: comments[removed], reader: None });
        service.not_found(GetPost { post: posts[removed], reader: Some(mia) });
    }
    assert_eq!(list(&service, ReportFilter::All), []);
    catch_up(&service);
    let post = posts[removed];
    assert!(service.write(move |tx, _| Ok(tx.remove_deleted_post(post, 1)?)), "the consumer removed it");
    let removed = |kind: &str, id: Uuid| {
        let counts = counts([(&*format!("{kind}s"), 1), ("reports", 2)]);
        ("remove-reports".to_owned(), format!("reports remove {id}"), counts)
    };
    let expected = [removed("comment", comments[1].as_uuid()), removed("post", post.as_uuid())];
    assert_eq!(journal(&service), expected);
    verified(&service);
    Ok(())
}

fn a_decision_of_many_is_made_whole_or_not_at_all(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let posts = [(); 3].map(|()| post(&service, mia));
    let [first, second, unreported] = posts.map(PostId::as_uuid);
    for post in &posts[..2] {
        report(&service, bo, *post);
    }
    service.done(decision(Verdict::Dismiss, [first]));
    let before = service.settled();
    for verdict in [Verdict::Dismiss, Verdict::Remove] {
        let refused = |ids: &[Uuid]| service.refused(decision(verdict, ids.iter().copied()));
        let refusal = refused(&[second, unreported, first]);
        assert_eq!(refusal, DecideRefusal::Unknown(vec![unreported]));
        assert_eq!(refusal.to_string(), format!("there is no report of {unreported}"));
        let refusal = refused(&[second, first]);
        assert_eq!(refusal, DecideRefusal::Decided(vec![first]));
        assert_eq!(refusal.to_string(), format!("the reports of {first} were decided before"));
    }
    let remove = decision(Verdict::Remove, [second]);
    let dry = service.run(decide_reports(service.app(), remove.clone(), true)).map_err(|_| ());
    let wet = DecidedContent { content: shown(&service, second).summary.content, reports: 1, existed: true };
    assert_eq!(dry, Ok(vec![wet]));
    assert_eq!(
        (service.log(before), undecided(&service), journal(&service).len()),
        (vec![], vec![second], 1)
    );
    service.found(GetPost { post: posts[1], reader: None });
    // An id that is given twice counts once.
    assert_eq!(service.done(decision(Verdict::Remove, [second, second])), [wet]);
    Ok(())
}

fn of_many_decisions_at_once_one_is_made(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    for is_deleted in [false, true] {
        let post = post(&service, mia);
        let comment = comment(&service, mia, post);
        report(&service, bo, post);
        report_comment(&service, bo, post, comment);
        if is_deleted {
            service.done(DeletePost { user: mia, post });
        }
        let before = service.settled();
        let runs = journal(&service).len();
        let outcomes = service.together((0..12).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let verdict = if n % 3 == 0 { Verdict::Dismiss } else { Verdict::Remove };
            // In either order.
            let ids = if n % 4 < 2 {
                [post.as_uuid(), comment.as_uuid()]
            } else {
                [comment.as_uuid(), post.as_uuid()]
            };
            async move { (verdict, app.execute(decision(verdict, ids)).await) }
        }));
        let mut made = Vec::new();
        for (verdict, outcome) in outcomes {
            match outcome {
                Ok(decided) => made.push((verdict, decided.len())),
                Err(Failure::Refused(_)) => {}
                Err(Failure::Broken(error)) => panic!("{error}"),
            }
        }
        let [(verdict, 2)] = made[..] else { panic!("{made:?}") };
        let kinds: Vec<_> = service.log(before).into_iter().map(|event| event.what.kind).collect();
        let is_removed = verdict == Verdict::Remove && !is_deleted;
        let expected: &[_] = if is_removed {
            use EventKind::{CommentDeleted, ContentRemoved, PostDeleted};
            &[ContentRemoved, CommentDeleted, ContentRemoved, PostDeleted]
        } else {
            &[]
        };
        assert_eq!(kinds, expected);
        assert_eq!(journal(&service).len(), runs + 2);
        assert_eq!(undecided(&service), Vec::<Uuid>::new());
    }
    verified(&service);
    Ok(())
}

fn content_of_a_suspended_author_is_removed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let (own, theirs) = (post(&service, mia), post(&service, bo));
    let comment = comment(&service, mia, theirs);
    report(&service, bo, own);
    report_comment(&service, bo, theirs, comment);
    service.done(SuspendAccount { username: "mia".to_owned() });
    assert!(list(&service, ReportFilter::Undecided).iter().all(|found| found.exists));
    service.done(decision(Verdict::Remove, [own.as_uuid(), comment.as_uuid()]));
    catch_up(&service);
    assert_eq!(service.found(GetPost { post: theirs, reader: None }).post.comment_count, 0);
    assert!(service.write(move |tx, _| Ok(tx.lock_post(own, None)?.is_none())));
    verified(&service);
    Ok(())
}

fn an_undecided_report_ends_after_90_days(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    let (stays, goes) = (post(&service, mia), post(&service, mia));
    for post in [stays, goes] {
        report(&service, bo, post);
    }
    service.clock().advance(DAY);
    report(&service, kim, stays);
    service.done(DeletePost { user: mia, post: goes });
    catch_up(&service);
    let nothing: Vec<(&str, u64)> = Vec::new();
    service.clock().advance((DAY * 89).saturating_sub(Duration::from_micros(1)));
    assert_eq!(repair_counts(&service, "sweep-reports"), nothing);
    assert_eq!(undecided(&service), [stays.as_uuid(), goes.as_uuid()]);
    service.clock().advance(Duration::from_micros(1));
    assert_eq!(repair_counts(&service, "sweep-reports"), [("reports", 2)]);
    service.not_found(ShowReports { id: goes.as_uuid() });
    let reports = shown(&service, stays.as_uuid()).reports;
    let [Report { body: None, decided: Some((Decision::Expired, _)), .. }, waiting] = &reports[..] else {
        panic!("{reports:?}")
    };
    assert!(waiting.body.is_some() && waiting.decided.is_none());
    service.clock().advance(DAY);
    assert_eq!(media::sweep(&service).reports, 1);
    assert_eq!(undecided(&service), Vec::<Uuid>::new());
    let refusal = service.refused(decision(Verdict::Dismiss, [stays.as_uuid()]));
    assert_eq!(refusal, DecideRefusal::Decided(vec![stays.as_uuid()]));
    report(&service, bo, stays);
    assert_eq!(undecided(&service), Vec::<Uuid>::new(), "the same fan reports once");
    Ok(())
}

fn reports_are_erased_with_the_author_and_with_the_reporter(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo, kim) = (service.fan("mia"), service.fan("bo_"), service.fan("kim").id);
    let (of_mia, of_kim) = (post(&service, mia.id), post(&service, kim));
    let deleted = post(&service, mia.id);
    let said = comment(&service, mia.id, of_kim);
    for fan in [bo.id, kim] {
        report(&service, fan, of_mia);
        report(&service, fan, of_kim);
        report(&service, fan, deleted);
        report_comment(&service, fan, of_kim, said);
    }
    service.done(DeletePost { user: mia.id, post: deleted });
    catch_up(&service);
    assert_eq!(undecided(&service).len(), 4);

    delete_account(&service, &bo);
    catch_up(&service);
    let listed = list(&service, ReportFilter::All);
    assert!(listed.len() == 4 && listed.iter().all(|found| found.reports == 1), "{listed:?}");
    delete_account(&service, &mia);
    catch_up(&service);
    let left: Vec<_> = list(&service, ReportFilter::All).into_iter().map(|found| found.content.id).collect();
    assert_eq!(left, [of_kim.as_uuid()]);
    assert_eq!(service.ask(move |tx| tx.reports_of(kim, 9, None)).len(), 1);
    verified(&service);
    Ok(())
}

fn a_reported_picture_is_kept_until_the_decision(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let (upload, hash) = media::upload(&service, mia, 1);
    let post = service.done(media::post(mia, upload)).post.id;
    report(&service, bo, post);
    service.done(DeletePost { user: mia, post });
    catch_up(&service);
    for _ in 0..3 {
        media::sweep(&service);
        service.clock().advance(DAY);
    }
    assert_eq!((media::sweep(&service).pictures, media::objects(&service)), (0, 1));
    let not_served = matches!(service.run(service.app().media(hash)), Err(Failure::Refused(_)));
    assert!(not_served, "fans do not see it");
    let reports = shown(&service, post.as_uuid()).reports;
    let picture = reports[0].picture.as_ref().expect("a picture");
    let bytes = service.run(reported_picture(service.app(), picture))?.expect("its bytes");
    assert!(picture.hash == hash && !bytes.is_empty());

    service.done(decision(Verdict::Remove, [post.as_uuid()]));
    assert_eq!(media::sweep(&service).pictures, 0);
    service.clock().advance(DAY);
    assert_eq!((media::sweep(&service).pictures, media::objects(&service)), (1, 0));
    Ok(())
}

/// The migration keeps reports with the present texts. The way back loses the reports of what is deleted.
fn existing_reports_are_moved(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let (first, deleted) = (post(&service, mia), post(&service, mia));
    let said = comment(&service, mia, first);
    let (upload, hash) = media::upload(&service, mia, 1);
    let pictured = service.done(media::post(mia, upload)).post.id;
    for post in [first, deleted, pictured] {
        report(&service, bo, post);
    }
    report_comment(&service, bo, first, said);
    service.done(DeletePost { user: mia, post: deleted });
    catch_up(&service);
    let before = [first.as_uuid(), said.as_uuid(), pictured.as_uuid()].map(|id| shown(&service, id));
    let storage = service.storage();
    loop {
        let reverted = storage.revert_last()?;
        ensure!(!reverted.is_empty(), "the migration is missing");
        if reverted.iter().any(|name| name.contains("moderation")) {
            break;
        }
    }
    for (table, rows) in [("reports", 2), ("comment_reports", 1)] {
        let sql = format!("SELECT reason AS text FROM {table} WHERE reason IN ('Spam', 'Insult')");
        assert_eq!(storage.read_by_hand(&sql)?.len(), rows, "{table}");
    }
    storage.migrate()?;
    let after = [first.as_uuid(), said.as_uuid(), pictured.as_uuid()].map(|id| shown(&service, id));
    assert_eq!(before, after);
    assert_eq!(after[2].reports[0].picture.as_ref().map(|picture| picture.hash), Some(hash));
    assert_eq!(undecided(&service).len(), 3);
    Ok(())
}
