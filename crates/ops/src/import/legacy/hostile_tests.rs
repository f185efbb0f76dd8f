//! The tables of an older system may contain anything: each record is either read, skipped with a reason, or reported
//! by the line on which it starts.

use crate::hostile::{file, is_fit, samples};
use crate::import::legacy::known::{Here, ReadState};
use crate::import::legacy::records::{Header, Records};
use crate::import::legacy::table::LegacyTable;
use proptest::prelude::*;
use std::io::BufReader;
use terrace_app::QuestContent;
use terrace_identity::Team;
use terrace_kernel::{LeagueId, TeamId, Timestamp};
use terrace_quests::{Known as KnownQuests, plan};
use terrace_scoring::{Season, SeasonStatus, Seasons};
use terrace_store::legacy::LegacyRow;
use uuid::Uuid;

const HEADS: [&str; 11] = [
    "id,key,name,startsAt,endsAt\n",
    "id,name,key\n",
    "id,teamId,seasonId\n",
    "id,title\n",
    "id,questId,title\n",
    "id,username,displayName,createdAt,bio,favouriteTeamId,timeZone\n",
    "id,userId,amount,reason,seasonId,leaderboardId,createdAt\n",
    "userId,questId,status,startedAt,completedAt\n",
    "userId,questStepId,completedAt\n",
    "leaderboardId,userId,points,createdAt\n",
    "followerId,followedId,teamId,createdAt\n",
];

/// Records that match one of the tables, and fragments of such records.
const KNOWN: [&str; 30] = [
    "s1,0.1,Old,2020-01-01T00:00:00Z,2021-01-01T00:00:00Z\n",
    "s2,0.2,\"Older, still\",0001-01-01T00:00:00Z,2020-01-01T00:00:00Z\n",
    "t1,Rovers,rovers\n",
    "b1,t1,\n",
    "b2,,s1\n",
    "q1,Matchday regular\n",
    "qs1,q1,One\n",
    "u1,mia,Mia,2020-01-01T00:00:00Z,,t1,Europe/Berlin\n",
    "u2,bo_b,Bo,2020-01-01T00:00:00Z,\"Two\nlines\",,\n",
    "p1,u1,10,A goal,s1,b1,2020-05-01T00:00:00Z\n",
    "u1,q1,completed,2020-05-01T00:00:00Z,2020-05-02T00:00:00Z\n",
    "u1,qs1,2020-05-01T00:00:00Z\n",
    "b1,u1,9223372036854775807,2020-05-01T00:00:00Z\n",
    "u1,u2,,2020-05-01T00:00:00Z\n",
    "u2,,t1,2020-05-01T00:00:00Z\n",
    "u1",
    "u2",
    "t1",
    "q1",
    "qs1",
    "b1",
    "s1",
    "Europe/Berlin",
    "Pacific/Kiritimati",
    "completed",
    "active",
    "mia",
    "2020-05-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "1000000000",
];

/// A service with a team, the embedded quests and one season.
fn here() -> Here {
    let rovers = TeamId::from_uuid(Uuid::from_u128(7));
    let team = Team {
        id: rovers,
        key: "rovers".to_owned(),
        name: "Rovers".to_owned(),
        short_name: "ROV".to_owned(),
        league_id: LeagueId::from_uuid(Uuid::from_u128(8)),
        colors: ["#000000".to_owned(), "#ffffff".to_owned()],
        crest_url: None,
        follower_count: 0,
        is_retired: false,
    };
    let content = QuestContent::embedded().unwrap();
    let mut ids = 0;
    let known = KnownQuests { quests: &[], team: &|_| Some(rovers), closes_after: None };
    let quests = plan(&content.drafts, &known, || {
        ids += 1;
        Uuid::from_u128(ids)
    })
    .unwrap();
    let season = Season {
        id: Uuid::from_u128(9).into(),
        key: "1".parse().unwrap(),
        name: "One".to_owned(),
        starts_at: "2025-01-01T00:00:00Z".parse().unwrap(),
        ends_at: None,
        status: SeasonStatus::Active,
    };
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    Here { now, teams: vec![team], quests, seasons: Seasons::new(vec![season]).unwrap() }
}

/// Reads the files as those of all tables, one after the other.
fn read(files: &[(LegacyTable, Vec<u8>)], buffer: usize) {
    let mut known = ReadState::new(here());
    for (table, bytes) in files {
        let mut records = Records::new(BufReader::with_capacity(buffer, bytes.as_slice()));
        let header = match Header::read(*table, &mut records).unwrap() {
            Ok(header) => header,
            Err(words) => {
                assert!(is_fit(&words), "{words:?}");
                continue;
            }
        };
        let mut before = 0;
        while let Some((line, found)) = records.next().unwrap() {
            assert!(line > before, "{line} after {before}");
            before = line;
            let read = found.and_then(|()| records.fields());
            let bad = match read.map(|fields| header.row(fields).and_then(|row| known.read(*table, &row))) {
                Err(why) => {
                    assert!(is_fit(why));
                    None
                }
                Ok(Err(bad)) => Some(bad),
                Ok(Ok(read)) => {
                    for row in &read.rows {
                        if let LegacyRow::User(user) = row {
                            // A record whose id occurred before is reported too.
                            let _ = known.admit(user);
                        }
                    }
                    read.remark
                }
            };
            if let Some(bad) = bad {
                assert!(is_fit(bad.kind) && (bad.about.is_empty() || is_fit(&bad.about)), "{bad:?}");
            }
        }
        assert_eq!(records.bytes(), u64::try_from(bytes.len()).unwrap());
    }
}

fn tables() -> impl Strategy<Value = Vec<(LegacyTable, Vec<u8>)>> {
    // The header of the table followed by arbitrary content, matching or not.
    let table = |place: usize| {
        file(&HEADS[place..=place], &KNOWN).prop_map(move |bytes| (LegacyTable::ALL[place], bytes))
    };
    (0..LegacyTable::ALL.len()).map(table).collect::<Vec<_>>()
}

proptest! {
    #[test]
    fn any_files_are_tables_or_reported_by_line(files in tables(), buffer in 1..20_usize) {
        read(&files, buffer);
    }

    /// Nothing is lost silently: content without quotes and carriage returns has one field for each comma.
    #[test]
    fn every_field_of_a_plain_line_is_read(lines in prop::collection::vec("[^\"\r\n,\u{feff}]{0,5}(,[^\"\r\n,]{0,5}){0,5}", 0..6)) {
        let text = lines.join("\n");
        let mut records = Records::new(text.as_bytes());
        let mut read = Vec::new();
        while let Some((line, found)) = records.next().unwrap() {
            found.unwrap();
            read.push((line, records.fields().unwrap().join(",")));
        }
        let blank = |line: &str| line.bytes().all(|byte| byte.is_ascii_whitespace());
        let expected: Vec<_> = (1..).zip(lines).filter(|(_, line)| !blank(line)).collect();
        prop_assert_eq!(read, expected);
    }
}

#[test]
fn inputs_that_once_failed_are_read_or_reported() {
    for (name, bytes) in samples() {
        println!("{name}");
        let with_heads = LegacyTable::ALL.iter().zip(HEADS);
        let files: Vec<_> =
            with_heads.map(|(table, head)| (*table, [head.as_bytes(), &bytes].concat())).collect();
        read(&files, 7);
        read(&LegacyTable::ALL.map(|table| (table, bytes.clone())), 8192);
    }
}
