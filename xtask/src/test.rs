//! `cargo xtask test`: everything that must hold before a change is done, in the order that fails
//! soonest. `.ci/run` calls just this.
//!
//! **A stage is one row of [`STAGES`]**; adding one (a linter, browser tests, a client library) is
//! adding a row. The first failing stage ends the run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::tools::{self, Skipped, Tool};
use crate::{clients, generate, openapi, portal};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run only these stages, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "STAGES")]
    only: Vec<String>,
    /// List the stages
    #[arg(long)]
    list: bool,
}

struct Stage {
    name: &'static str,
    about: &'static str,
    /// What must be there first; the tools stage sees to it.
    needs: &'static [Tool],
    run: fn() -> Result<()>,
}

/// The stage before all others: finds or installs what the selected ones need.
const TOOLS_STAGE: &str = "tools";

/// In the order they run.
static STAGES: &[Stage] = &[
    Stage { name: "fmt", about: "Formatting", needs: &[], run: || cargo("fmt --all --check") },
    Stage {
        name: "portal",
        about: "Portal: checks and build",
        needs: &[Tool::Node],
        run: portal::check_and_build,
    },
    Stage {
        name: "clippy",
        about: "Lints",
        needs: &[],
        run: || cargo("clippy --workspace --all-targets --locked -- -D warnings"),
    },
    Stage {
        name: "doc",
        about: "Documentation, including private items",
        needs: &[],
        run: || {
            let doc = "doc --no-deps --workspace --document-private-items --locked";
            tools::run(tools::cargo().args(doc.split(' ')).env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Stage {
        name: "generated",
        about: "Generated files are up to date",
        needs: &[],
        run: || generate::reference(true),
    },
    Stage {
        name: "tests",
        about: "Unit and integration tests on both database engines; tidy rules",
        needs: &[Tool::Postgres],
        run: || cargo("test --workspace --locked"),
    },
    Stage {
        name: "browser",
        about: "Browser tests of the portal in Chromium",
        needs: &[Tool::Node, Tool::Chromium],
        run: portal::walk,
    },
    Stage {
        name: "openapi",
        about: "The OpenAPI documents are valid",
        needs: &[Tool::Python],
        run: openapi::validate,
    },
    Stage {
        name: "schemathesis",
        about: "A running server conforms to its OpenAPI document",
        needs: &[Tool::Python],
        run: openapi::schemathesis,
    },
    Stage {
        name: "clients",
        about: "Third-party client libraries against a running server",
        needs: &[Tool::Node, Tool::Python],
        run: clients::sessions,
    },
    Stage {
        name: "suite",
        about: "The reference's published test suite against a running server",
        needs: &[Tool::Node, Tool::Postgres],
        run: clients::suite,
    },
];

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.list {
        println!("{TOOLS_STAGE:<14} Find or install the tools of the selected stages");
        for stage in STAGES {
            println!("{:<14} {}", stage.name, stage.about);
        }
        return Ok(());
    }
    let stages = select(&options.only)?;
    // Asked for by name, the tools stage makes the machine ready for everything.
    let tools_named = options.only.iter().any(|name| name == TOOLS_STAGE);
    let in_need = STAGES
        .iter()
        .filter(|stage| tools_named || stages.iter().any(|selected| selected.name == stage.name));
    let needs: BTreeSet<Tool> = in_need.flat_map(|stage| stage.needs.iter().copied()).collect();

    let mut report = Report::default();
    let outcome = run_stages(&stages, &needs, &mut report);
    report.print(&stages);
    outcome
}

/// The stages named, in their own order; all of them if none is named.
fn select(only: &[String]) -> Result<Vec<&'static Stage>> {
    let known = |name: &String| name == TOOLS_STAGE || STAGES.iter().any(|s| s.name == name);
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        bail!("unknown stage {unknown:?}; run `cargo xtask test --list`");
    }
    let wanted = |stage: &&Stage| only.is_empty() || only.iter().any(|name| name == stage.name);
    Ok(STAGES.iter().filter(wanted).collect())
}

fn run_stages(
    stages: &[&'static Stage],
    needs: &BTreeSet<Tool>,
    report: &mut Report,
) -> Result<()> {
    if !needs.is_empty() {
        report.time(TOOLS_STAGE, || needs.iter().try_for_each(|tool| tool.ensure()))?;
    }
    stages.iter().try_for_each(|stage| report.time(stage.name, stage.run))
}

/// What has been run so far. **Only the last entry can be a failure.**
#[derive(Default)]
struct Report {
    finished: Vec<(&'static str, Verdict, Duration)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// Could not be run on this machine, and may be left out.
    Skipped,
    Failed,
}

impl Verdict {
    fn of(outcome: &Result<()>) -> Self {
        match outcome {
            Ok(()) => Verdict::Passed,
            Err(error) if error.is::<Skipped>() => Verdict::Skipped,
            Err(_) => Verdict::Failed,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "ok",
            Verdict::Skipped => "skipped",
            Verdict::Failed => "FAILED",
        }
    }
}

impl Report {
    fn time(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n=== {name} ===");
        let start = Instant::now();
        let outcome = work();
        let duration = start.elapsed();
        let verdict = Verdict::of(&outcome);
        self.finished.push((name, verdict, duration));
        println!("=== {name}: {} after {:.1} s ===", verdict.name(), duration.as_secs_f64());
        if let (Verdict::Skipped, Err(reason)) = (verdict, &outcome) {
            println!("{reason}");
            return Ok(());
        }
        outcome.with_context(|| {
            format!("stage {name} failed; run it alone with `cargo xtask test --only {name}`")
        })
    }

    fn print(&self, stages: &[&'static Stage]) {
        println!("\n{:<14} {:<8} {:>9}", "stage", "result", "time");
        for (name, verdict, duration) in &self.finished {
            println!("{name:<14} {:<8} {:>7.1} s", verdict.name(), duration.as_secs_f64());
        }
        let is_finished = |name: &str| self.finished.iter().any(|(done, ..)| *done == name);
        for stage in stages.iter().filter(|stage| !is_finished(stage.name)) {
            println!("{:<14} not run", stage.name);
        }
        let total: Duration = self.finished.iter().map(|(.., duration)| *duration).sum();
        println!("{:<14} {:<8} {:>7.1} s", "total", "", total.as_secs_f64());
    }
}

/// Runs cargo with the words of `line` as its arguments.
fn cargo(line: &str) -> Result<()> {
    tools::run(tools::cargo().args(line.split(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_selected_in_their_own_order() {
        let check = |only: &[&str], expected: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            let selected: Vec<&str> =
                select(&only).unwrap().iter().map(|stage| stage.name).collect();
            assert_eq!(selected, expected);
        };
        let all: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        check(&[], &all);
        check(&["tests", "clippy"], &["clippy", "tests"]);
        assert!(select(&["test".to_owned()]).is_err());
    }

    #[test]
    fn first_failure_ends_the_run() {
        let passing = Stage { name: "passing", about: "", needs: &[], run: || Ok(()) };
        let skipped =
            Stage { name: "skipped", about: "", needs: &[], run: || bail!(Skipped("no browser")) };
        let failing = Stage { name: "failing", about: "", needs: &[], run: || bail!("no") };
        let made = [passing, skipped, failing].map(|stage| &*Box::leak(Box::new(stage)));
        let stages: Vec<&'static Stage> = made.into_iter().chain(STAGES.last()).collect();
        let mut report = Report::default();
        assert!(run_stages(&stages, &BTreeSet::new(), &mut report).is_err());
        let finished: Vec<_> =
            report.finished.iter().map(|(name, verdict, _)| (*name, *verdict)).collect();
        let expected = [
            ("passing", Verdict::Passed),
            ("skipped", Verdict::Skipped),
            ("failing", Verdict::Failed),
        ];
        assert_eq!(finished, expected);
    }
}
