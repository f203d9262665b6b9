//! `cargo xtask test`: everything that must hold before a change is done, in the order that fails
//! soonest. `.ci/run` calls just this.
//!
//! **A stage is one row of [`STAGES`]**; adding one (a linter, browser tests, a client library) is
//! adding a row. The first failing stage ends the run. Stages that mostly wait for other programs
//! run [beside the tests](Beside), in a process of their own, once everything is compiled; all of
//! them run, whichever fails.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;

use crate::tools::{self, Skipped, Tool};
use crate::{chaos, clients, generate, openapi, package, portal};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Run only these stages, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "STAGES")]
    only: Vec<String>,
    /// List the stages
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Copy)]
struct Stage {
    name: &'static str,
    about: &'static str,
    /// What must be there first; the tools stage sees to it.
    needs: &'static [Tool],
    lane: Lane,
    run: fn() -> Result<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// One after the other; the last of them are the tests.
    Main,
    /// While the tests run: compiles nothing that they need.
    Beside,
}

/// The stage before all others: finds or installs what the selected ones need.
const TOOLS_STAGE: &str = "tools";

/// In the order they run.
static STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        about: "Formatting",
        needs: &[],
        lane: Lane::Main,
        run: || cargo("fmt --all --check"),
    },
    Stage {
        name: "portal",
        about: "Portal: checks and build",
        needs: &[Tool::Node],
        lane: Lane::Main,
        run: portal::check_and_build,
    },
    Stage {
        name: "clippy",
        about: "Lints",
        needs: &[],
        lane: Lane::Main,
        run: || cargo("clippy --workspace --all-targets --locked -- -D warnings"),
    },
    Stage {
        name: "doc",
        about: "Documentation, including private items",
        needs: &[],
        lane: Lane::Main,
        run: || {
            let doc = "doc --no-deps --workspace --document-private-items --locked";
            tools::run(tools::cargo().args(doc.split(' ')).env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Stage {
        name: "build",
        about: "Everything that is tested compiles",
        needs: &[],
        lane: Lane::Main,
        // The fuzzer's targets are for the fuzzer; the tests feed its corpus to the server.
        run: || cargo("test --workspace --exclude fuzz --locked --no-run"),
    },
    Stage {
        name: "tests",
        about: "Unit and integration tests on both database engines; tidy rules",
        needs: &[Tool::Postgres, Tool::Clickhouse, Tool::Proxies, Tool::Pebble, Tool::Python],
        lane: Lane::Main,
        run: all_tests,
    },
    Stage {
        name: "generated",
        about: "Generated files and copies of the OpenAPI documents are up to date",
        needs: &[],
        lane: Lane::Beside,
        run: || generate::reference(true).and_then(|()| openapi::documents(true)),
    },
    Stage {
        name: "openapi",
        about: "The OpenAPI documents are valid, and linters find no error",
        needs: &[Tool::Node, Tool::Python],
        lane: Lane::Beside,
        run: || openapi::validate().and_then(|()| clients::lint_documents()),
    },
    Stage {
        name: "schemathesis",
        about: "A running server conforms to its OpenAPI document",
        needs: &[Tool::Python],
        lane: Lane::Beside,
        run: openapi::schemathesis,
    },
    Stage {
        name: "clients",
        about: "Third-party client libraries and generated clients against a running server",
        needs: &[Tool::Node, Tool::Python],
        lane: Lane::Beside,
        run: clients::sessions,
    },
    Stage {
        name: "sdk",
        about: "Our own packages are up to date, compile, and work against a running server",
        needs: &[Tool::Node, Tool::Python],
        lane: Lane::Beside,
        run: clients::own_packages,
    },
    Stage {
        name: "suite",
        about: "The reference's published test suite against a running server",
        needs: &[Tool::Node, Tool::Postgres],
        lane: Lane::Beside,
        run: clients::suite,
    },
    Stage {
        name: "package",
        about: "The Debian package installs, runs and onboards; the container image runs",
        needs: &[],
        lane: Lane::Beside,
        run: package::trial::stage,
    },
    Stage {
        name: "chaos",
        about: "Kills, a full disk, a restarted database, jumping clocks, a greedy caller",
        needs: &[Tool::Postgres],
        lane: Lane::Beside,
        run: chaos::stage,
    },
    Stage {
        name: "browser",
        about: "Browser tests of the portal in Chromium",
        needs: &[Tool::Node, Tool::Chromium],
        lane: Lane::Beside,
        run: portal::walk,
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
    let (main, beside): (Vec<&Stage>, Vec<&Stage>) =
        stages.iter().copied().partition(|stage| stage.lane == Lane::Main);
    let Some((last, first)) = main.split_last().filter(|_| !beside.is_empty()) else {
        install(needs, report)?;
        return run_all(stages, report);
    };
    let soon: BTreeSet<Tool> = first.iter().flat_map(|stage| stage.needs).copied().collect();
    install(&soon, report)?;
    // The others arrive over the network while the compiler has the processors.
    thread::scope(|scope| {
        let others = scope.spawn(|| needs.difference(&soon).try_for_each(|tool| tool.ensure()));
        let compiled = first.iter().try_for_each(|stage| report.time(stage.name, stage.run));
        let installed = others.join().map_err(|_| anyhow!("the installation stopped"))?;
        compiled.and(installed)
    })?;
    let beside = Beside::start(&beside)?;
    let outcome = report.time(last.name, last.run);
    // Also after a failure: what it started must not outlive this run.
    outcome.and(report.time(BESIDE, || beside.finish()))
}

fn install(tools: &BTreeSet<Tool>, report: &mut Report) -> Result<()> {
    if tools.is_empty() {
        return Ok(());
    }
    report.time(TOOLS_STAGE, || tools.iter().try_for_each(|tool| tool.ensure()))
}

/// Those that compile stop at the first failure, since the next ones build on it; those that watch
/// a finished program do not depend on each other, and one failure hides no other.
fn run_all(stages: &[&'static Stage], report: &mut Report) -> Result<()> {
    let mut outcome = Ok(());
    for stage in stages {
        if outcome.is_ok() || stage.lane == Lane::Beside {
            let ended = report.time(stage.name, stage.run);
            if let Err(error) = &ended {
                println!("{error:#}");
            }
            outcome = outcome.and(ended);
        }
    }
    outcome
}

/// How the report calls what ran beside the tests; its own report has the stages.
const BESIDE: &str = "beside";

/// This program again, with the stages that run beside the tests. What they say is kept in a file,
/// and shown when they have ended.
struct Beside {
    process: Child,
    output: PathBuf,
}

impl Beside {
    fn start(stages: &[&'static Stage]) -> Result<Self> {
        let names: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
        println!("\nbeside it: {}", names.join(", "));
        let output = openapi::fresh_folder(BESIDE)?.join("output.txt");
        let file =
            File::create(&output).with_context(|| format!("cannot write {}", output.display()))?;
        let mut program = Command::new(program()?);
        program.args(["test", "--only", &names.join(",")]);
        program.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let process = program.spawn().context("cannot start this program again")?;
        Ok(Self { process, output })
    }

    fn finish(mut self) -> Result<()> {
        let status = self.process.wait()?;
        let said = fs::read(&self.output)?;
        println!("{}", String::from_utf8_lossy(&said));
        ensure!(status.success(), "a stage beside the tests failed; it is named above");
        Ok(())
    }
}

/// Where this program is. A build may have put another copy in its place meanwhile, and then the
/// system takes the path for that of a file that is gone.
fn program() -> Result<PathBuf> {
    let path = env::current_exe().context("this program does not know where it is")?;
    let text = path.to_string_lossy();
    Ok(text.strip_suffix(" (deleted)").map_or_else(|| path.clone(), PathBuf::from))
}

/// What has been run so far.
struct Report {
    started: Instant,
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

impl Default for Report {
    fn default() -> Self {
        Self { started: Instant::now(), finished: Vec::new() }
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
        let beside = is_finished(BESIDE);
        let is_done =
            |stage: &Stage| is_finished(stage.name) || (beside && stage.lane == Lane::Beside);
        for stage in stages.iter().filter(|stage| !is_done(stage)) {
            println!("{:<14} not run", stage.name);
        }
        let total = self.started.elapsed();
        println!("{:<14} {:<8} {:>7.1} s", "total", "", total.as_secs_f64());
    }
}

/// All tests. Those of statements for ClickHouse are told where its current version is, by a name
/// that the program does not take for one of its settings.
fn all_tests() -> Result<()> {
    let line = "test --workspace --exclude fuzz --locked --no-fail-fast";
    let python = tools::python_program("python3")?;
    let mut cargo = tools::cargo();
    cargo.args(line.split(' ')).env("CHDB_PYTHON", python.get_program());
    tools::run(&mut cargo)
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
        let passing =
            Stage { name: "passing", about: "", needs: &[], lane: Lane::Main, run: || Ok(()) };
        let skipped = Stage { name: "skipped", run: || bail!(Skipped("no browser")), ..passing };
        let failing = Stage { name: "failing", run: || bail!("no"), ..passing };
        let last = Stage { name: "last", ..passing };
        let made = [passing, skipped, failing, last];
        let stages = made.map(|stage| &*Box::leak(Box::new(stage)));
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
