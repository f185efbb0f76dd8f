//! Contract part 2 §8: how long the answer to an answer takes does not say whether it was right.

/// Left out by `cargo xtask test`: beside other tests the times mean nothing. `cargo xtask prove games` runs it.
mod measured {
    use crate::crash::dice::Dice;
    use crate::http::games::sizes::size;
    use crate::http::streams::lasting;
    use anyhow::{Context, Result, ensure};
    use serde_json::{Value, json};
    use std::fmt::Write;
    use std::time::{Duration, Instant};
    use terrace_testkit::app::trivia::TriviaContent;
    use terrace_testkit::kernel::{Clock, Timestamp};
    use terrace_testkit::{DatabaseKind, on_each_database};

    on_each_database! { spec_8_right_and_wrong_answers_take_times_of_one_distribution }

    /// The number of answers, where it differs from that of a short run.
    const ANSWERS: &str = "TERRACE_PROVE_ANSWERS";
    const IN_A_SHORT_RUN: usize = 200;
    /// So many rounds are open at once: they are over before their questions close.
    const AT_ONCE: usize = 500;
    const LEVEL: f64 = 0.001;
    const HOUR: Duration = Duration::from_hours(1);

    /// The largest distance between the distributions of two samples, and the probability of one at least as large if both
    /// samples are of one distribution, by the asymptotic formula of Kolmogorov and Smirnov.
    fn compare(mut one: Vec<f64>, mut other: Vec<f64>) -> Result<(f64, f64)> {
        one.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        let share = |sample: &[f64], value: f64| -> Result<f64> {
            let below = u32::try_from(sample.partition_point(|other| *other <= value))?;
            Ok(f64::from(below) / f64::from(u32::try_from(sample.len())?))
        };
        let mut largest = 0.0_f64;
        for value in one.iter().chain(&other) {
            largest = largest.max((share(&one, *value)? - share(&other, *value)?).abs());
        }
        let [m, n] = [one.len(), other.len()].map(|len| u32::try_from(len).map_or(f64::NAN, f64::from));
        let root = (m * n / (m + n)).sqrt();
        let lambda = (root + 0.12 + 0.11 / root) * largest;
        // The series does not converge there, and the probability is 1 to five digits.
        if lambda < 0.3 {
            return Ok((largest, 1.0));
        }
        let term = |k: u32| {
            let k = f64::from(k);
            (-2.0 * k * k * lambda * lambda).exp()
        };
        let sum: f64 = (1..=100).map(|k| if k % 2 == 1 { term(k) } else { -term(k) }).sum();
        Ok((largest, (2.0 * sum).clamp(0.0, 1.0)))
    }

    fn content(start: Timestamp, first: usize, count: usize) -> String {
        (first..first + count).fold(String::new(), |mut text, number| {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "[[round]]\nkey = \"round-{number}\"\ntitle = \"Round\"\nstarts = \"{start:?}\"\nseconds = 120\npoints = 100\n\
                 questions = [{{ text = \"Which?\", options = [\"a\", \"b\"], right = \"a\" }}]\n"
            );
            text
        })
    }

    fn spec_8_right_and_wrong_answers_take_times_of_one_distribution(kind: DatabaseKind) -> Result<()> {
        let answers = size(ANSWERS, IN_A_SHORT_RUN)?;
        let service = lasting(kind)?;
        let fan = service.fan("mia");
        let mut dice = Dice::new()?;
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for first in (0..answers).step_by(AT_ONCE) {
            let count = AT_ONCE.min(answers - first);
            let start = service.clock().now().plus(HOUR);
            let rounds = TriviaContent::parse(&content(start, first, count))?;
            service.run(service.app().load_trivia(rounds)).expect("rounds that fit");
            let (mut paths, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = fan.get(&format!("/api/trivia?limit=100{cursor}")).expect(200);
                let path = |round: &Value| format!("/api/trivia/{}", round["id"].as_str().expect("an id"));
                paths.extend(page.list("/rounds").iter().map(path));
                let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
                cursor = format!("&cursor={next}");
            }
            for path in &paths {
                fan.post(&format!("{path}/join"), &json!({})).expect(200);
            }
            service.clock().advance(start.since(service.clock().now()));
            for path in &paths {
                let question = fan.get(path).expect(200).at("/current/question");
                // In a random order, so that other load affects both.
                let is_right = dice.below(2) == 0;
                let text = if is_right { "a" } else { "b" };
                let options = question["options"].as_array().context("options")?;
                let chosen = options.iter().find(|option| option["text"] == text).context("an option")?;
                let body = json!({"questionId": question["id"], "optionId": chosen["id"]});
                let (path, begun) = (format!("{path}/answers"), Instant::now());
                fan.post(&path, &body).expect(201);
                let took = begun.elapsed().as_secs_f64();
                if is_right { right.push(took) } else { wrong.push(took) }
            }
            service.clock().advance(HOUR);
        }
        let counts = (right.len(), wrong.len());
        let (distance, p) = compare(right, wrong)?;
        println!("{kind:?}: {counts:?} right and wrong answers: distance {distance:.4}, p = {p:.4}");
        ensure!(p > LEVEL, "distance {distance} of {counts:?}: p = {p}");
        Ok(())
    }

    #[test]
    fn distributions_that_differ_are_found() -> Result<()> {
        let values = |from: u32, step: f64| (0..500).map(|n| f64::from(n + from) * step).collect::<Vec<_>>();
        let (distance, p) = compare(values(0, 1.0), values(0, 1.0))?;
        assert!(distance < 1e-9 && p > 0.999);
        // Shifted by a tenth of the range, and twice as wide.
        assert!(compare(values(0, 1.0), values(60, 1.0))?.1 < 0.01);
        assert!(compare(values(0, 1.0), values(0, 2.0))?.1 < 1e-6);
        // Of samples of 100 each, a distance of 0.2 has a probability of 0.0314 by this formula.
        let of = |from: u32| (0..100).map(|n| f64::from(n + from)).collect::<Vec<_>>();
        let (distance, p) = compare(of(0), of(20))?;
        assert!((distance - 0.2).abs() < 1e-9 && (p - 0.0314).abs() < 1e-3, "{distance} {p}");
        Ok(())
    }
}
