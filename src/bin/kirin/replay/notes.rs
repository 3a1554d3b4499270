//! The parts of a replay that must not be compared, with the reasons.

use kirin_core::process;
use kirin_core::trace::{GRAPE5, HOST};

use super::facts::TraceFacts;
use super::lists::Rules;
use super::summary::Summary;
use crate::candidate::Candidate;

/// One sentence for each comparison that tells nothing of a library.
pub fn of(
    facts: &TraceFacts,
    candidates: &[Candidate],
    figures: &[Option<Summary>],
) -> Vec<String> {
    let mut notes = Vec::new();
    match facts.head(HOST) {
        Some(there) if there == process::host() => {}
        Some(there) => notes.push(format!(
            "the recorded times with others: they are of another machine, {there}"
        )),
        None => notes.push(
            "the recorded times with others: the trace does not tell their machine".to_owned(),
        ),
    }
    let mut of_libraries = Vec::new();
    for (candidate, figure) in candidates.iter().zip(figures) {
        if let Some(summary) = figure {
            let what = of_library(facts, candidate, summary);
            of_libraries.extend(what.into_iter().map(|note| (&*candidate.name, note)));
        }
    }
    notes.extend(merged(of_libraries));
    notes
}

/// Each note once, after the names of all libraries that it is about.
fn merged(notes: Vec<(&str, String)>) -> Vec<String> {
    let mut merged: Vec<(String, String)> = Vec::new();
    for (name, note) in notes {
        match merged.iter_mut().find(|(_, other)| *other == note) {
            Some((names, _)) => *names += &format!(", {name}"),
            None => merged.push((name.to_owned(), note)),
        }
    }
    let line = |(names, note)| format!("{names}: {note}");
    merged.into_iter().map(line).collect()
}

fn of_library(facts: &TraceFacts, candidate: &Candidate, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if !summary.has_compared() {
        notes.push("anything: there is no result".to_owned());
    }
    if !summary.finished {
        notes.push(format!(
            "its figures with those of others: it was lost after {} of {} events",
            summary.events, facts.events
        ));
    }
    let not_finite = summary.recorded_not_finite();
    if not_finite > 0 {
        notes.push(format!(
            "the errors of {not_finite} forces: the recorded ones are no finite numbers"
        ));
    }
    let Some(opened) = &candidate.opened else {
        return notes;
    };
    if summary.split > 0 {
        notes.push(format!(
            "its times with the recorded ones: {} blocks took several calls, for it has {} pipelines",
            summary.split, opened.npipes
        ));
    }
    let rules = Rules::of(opened.is_kirin, opened.npipes, facts.pipelines);
    let are_sets = summary.nbody6.is_none() && rules == Rules::Other;
    if summary.lists.compared > 0 && are_sets {
        notes.push(
            "the order of its lists, or whether a particle's own label is in them: \
             its rules may be others, so both were left out"
                .to_owned(),
        );
    }
    if summary.has_other_forces()
        && let Some(why) = why_other_bits(facts, candidate, summary)
    {
        notes.push(format!("single bits: {why}"));
    }
    notes
}

/// Why the bits of forces may differ from the recorded ones. `None` if they should not.
fn why_other_bits(
    facts: &TraceFacts,
    candidate: &Candidate,
    summary: &Summary,
) -> Option<&'static str> {
    let has_grape5 = || {
        facts
            .recorded_with
            .iter()
            .any(|(id, _)| GRAPE5.contains(id))
    };
    if facts.recorded_with.is_empty() {
        Some("the trace does not tell what computed the forces")
    } else if !is_the_recorded_one(facts, candidate) {
        Some("the forces were recorded with another library or precision")
    } else if summary.nbody6.is_none() && has_grape5() {
        Some("the calls of GRAPE-5 were repeated as those of GRAPE-6")
    } else {
        None
    }
}

/// Whether the library computes as the recorded one did.
fn is_the_recorded_one(facts: &TraceFacts, candidate: &Candidate) -> bool {
    candidate.opened.as_ref().is_some_and(|o| {
        // A rule takes what it took when the trace was recorded.
        let taken: &[&str] = match o.precision.as_str() {
            "auto" | "adaptive" => &["mixed", "double", "double-single"],
            "reduced" => &["reduced", "single"],
            always => &[always],
        };
        let with = |precision: &&str| format!("{}, precision {precision}", o.backend);
        let all: Vec<_> = taken.iter().map(with).collect();
        o.is_kirin && facts.recorded_with.iter().all(|(_, w)| all.contains(w))
    })
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn a_note_on_several_libraries_is_told_once() {
        let note = |name, text: &str| (name, text.to_owned());
        let notes = vec![note("a", "same"), note("a", "own"), note("b", "same")];
        assert_eq!(merged(notes), ["a, b: same", "a: own"]);
    }
}
