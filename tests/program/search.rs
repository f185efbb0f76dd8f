//! Contract part 2 §1, search: what is written to a running service is found within two seconds, by its own consumers.

use anyhow::Result;
use serde_json::json;
use std::time::Duration;
use terrace_testkit::{Client, DatabaseKind, Invocation, TestDatabase, on_each_database, wait_at_most};

on_each_database! { spec_1_what_is_written_is_found_within_two_seconds }

const TWO_SECONDS: Duration = Duration::from_secs(2);

/// The ids of what a search for a word finds.
fn found(client: &Client, word: &str, kind: &str) -> Vec<String> {
    let rows = client.get(&format!("/api/search?q={word}&kind={kind}")).expect(200).list(&format!("/{kind}"));
    rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

fn spec_1_what_is_written_is_found_within_two_seconds(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let program = Invocation::on(database.url())?.serve()?;
    let (reader, mia) = (program.client(), program.client());
    let id = mia.register("mia");
    wait_at_most(TWO_SECONDS, "the fan is found", || Ok(found(&reader, "mia", "users") == [id.clone()]))?;
    for n in 0..4 {
        let (first, second) = (format!("nutmeg{n}"), format!("panenka{n}"));
        let post = mia.create_post(&format!("What a {first}!"));
        let is_found = |word: &str| found(&reader, word, "posts") == [post.clone()];
        wait_at_most(TWO_SECONDS, "the post is found", || Ok(is_found(&first)))?;
        mia.patch(&format!("/api/locker-room/{post}"), &json!({"body": format!("What a {second}!")}))
            .expect(200);
        wait_at_most(TWO_SECONDS, "the new text is found", || Ok(is_found(&second)))?;
        assert_eq!(found(&reader, &first, "posts"), [""; 0]);
        mia.delete(&format!("/api/locker-room/{post}")).expect(204);
        assert_eq!(found(&reader, &second, "posts"), [""; 0]);
    }
    Ok(())
}
