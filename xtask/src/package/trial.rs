//! The stage that installs what operators install. The Debian package goes onto a copy of this
//! machine that is gone afterwards (an overlay, within namespaces of its own, so that no process
//! outlives it), the image into a folder; both run there, and a merchant is onboarded.
//!
//! **The binary is the one that the tests use**: how it was compiled is no matter of packaging.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use serde_json::Value;
use tar::Archive;

use super::{Product, image};
use crate::openapi;
use crate::tools::{self, Skipped};

/// For the installation and the server's start.
const START_MAX: Duration = Duration::from_mins(2);
/// For everything after it.
const END_MAX: Duration = Duration::from_mins(1);
const ANSWER_MAX: Duration = Duration::from_secs(20);
const SCRIPT: &str = "xtask/src/package/trial.sh";

/// Stage: the packages install and run.
pub(crate) fn stage() -> Result<()> {
    let binary = openapi::build_binary()?;
    let folder = openapi::fresh_folder("package-trial")?;
    let binary = without_debug_lines(&binary, &folder)?;
    let product = Product::collect(&binary, &folder, Compression::fast())?;
    let made = product.pack(&binary, &folder)?;
    let ending = |end: &str| {
        let found = made.iter().find(|path| path.to_string_lossy().ends_with(end));
        found.with_context(|| format!("no package ends with {end}"))
    };
    if let Some(reason) = obstacle() {
        bail!(Skipped(reason));
    }
    run_image(ending("-image.tar")?, &folder)?;
    install(ending(".deb")?, &folder)
}

/// Why nothing can be installed here.
fn obstacle() -> Option<&'static str> {
    if !tools::is_root() {
        return Some("the packages were made, but only root can install them for a trial");
    }
    if ["dpkg", "unshare", "setpriv", "chroot"].into_iter().any(|name| !tools::has_program(name)) {
        return Some("the packages were made, but there is no dpkg to install them with");
    }
    let mut mount = in_namespaces();
    mount.args(["mount", "-t", "tmpfs", "tmpfs", "/tmp"]).stderr(Stdio::null());
    let can_mount = mount.status().is_ok_and(|status| status.success());
    (!can_mount).then_some("the packages were made, but nothing may be mounted here for a trial")
}

/// Mounts and processes of its own, which end with it.
fn in_namespaces() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--"]);
    command
}

/// Debug lines are most of the binary, and the trial packs it three times.
fn without_debug_lines(binary: &Path, folder: &Path) -> Result<PathBuf> {
    if !tools::has_program("strip") {
        return Ok(binary.to_owned());
    }
    let stripped = folder.join("boardwalk");
    tools::run(Command::new("strip").arg("-o").arg(&stripped).arg(binary))?;
    Ok(stripped)
}

fn install(deb: &Path, folder: &Path) -> Result<()> {
    let place = folder.join("machine");
    fs::create_dir(&place)?;
    let mut command = in_namespaces();
    command.args(["sh"]).arg(tools::root().join(SCRIPT)).arg(deb).arg(&place);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).env("BOARDWALK_LOG__LEVEL", "warn");
    let mut machine = Machine(command.spawn().context("cannot start unshare")?);
    let told = machine.wait_until_ready()?;
    let find = |name: &str| {
        let text = told.iter().find_map(|object| tools::json_text(object, name));
        text.with_context(|| format!("the trial told no {name}"))
    };
    onboard(find("url")?, find("key")?)?;
    let status = machine.finish()?;
    ensure!(status, "the package did not stop or uninstall cleanly; see above");
    println!("installed {}, onboarded a merchant, uninstalled it", deb.display());
    Ok(())
}

/// The copy of this machine; gone on drop.
struct Machine(Child);

impl Machine {
    /// What was printed up to the address of the sandbox.
    fn wait_until_ready(&mut self) -> Result<Vec<Value>> {
        let stdout = self.0.stdout.take().context("no output")?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let deadline = Instant::now() + START_MAX;
        let mut told: Vec<Value> = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = receiver.recv_timeout(left).context("the package did not start")?;
            let object: Value = serde_json::from_str(&line)
                .with_context(|| format!("{line:?} was not to be printed"))?;
            let is_ready = tools::json_text(&object, "environment") == Some("sandbox");
            told.push(object);
            if is_ready {
                return Ok(told);
            }
        }
    }

    /// Asks it to end, and tells whether all went well.
    fn finish(&mut self) -> Result<bool> {
        let mut stdin = self.0.stdin.take().context("no input")?;
        writeln!(stdin, "end")?;
        let deadline = Instant::now() + END_MAX;
        while Instant::now() < deadline {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status.success());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("the server did not stop within {END_MAX:?}")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn onboard(url: &str, key: &str) -> Result<()> {
    let address = url.strip_prefix("http://").context("the server speaks TLS")?;
    let body = fs::read_to_string(tools::root().join("docs/examples/full.json"))?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    write!(
        stream,
        "POST /v1/onboardmerchant HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: api-key {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "onboarding was answered with {answer}");
    ensure!(answer.contains("\"merchantId\""), "onboarding was answered with {answer}");
    Ok(())
}

/// Unpacks the image as a container program would, and runs the program in it as its user.
fn run_image(image: &Path, folder: &Path) -> Result<()> {
    let layout = folder.join("layout");
    Archive::new(fs::File::open(image)?).unpack(&layout)?;
    let read = |path: &str| fs::read(layout.join(path)).with_context(|| format!("no {path}"));
    let blob = |described: &Value| {
        let digest = tools::json_text(described, "digest").context("a blob has no digest")?;
        let content = read(&format!("blobs/{}", digest.replace(':', "/")))?;
        ensure!(image::digest(&content) == digest, "{digest} is not that of its content");
        Ok(content)
    };
    let first = |object: &Value, list: &str| {
        let found = object.get(list).and_then(|list| list.get(0)).cloned();
        found.with_context(|| format!("{list} is empty"))
    };
    let index: Value = serde_json::from_slice(&read("index.json")?)?;
    let manifest: Value = serde_json::from_slice(&blob(&first(&index, "manifests")?)?)?;
    let config = blob(manifest.get("config").context("no config")?)?;
    let config: Value = serde_json::from_slice(&config)?;
    let user = config.pointer("/config/User").and_then(Value::as_str).context("no user")?;
    let layer = blob(&first(&manifest, "layers")?)?;
    let root = folder.join("container");
    let mut archive = Archive::new(GzDecoder::new(&*layer));
    archive.set_preserve_ownerships(true);
    archive.set_preserve_permissions(true);
    archive.unpack(&root)?;
    let mut program = Command::new("chroot");
    program.arg(format!("--userspec={user}")).arg(&root).arg(format!("/{}", image::BINARY));
    program.args(["--data", "/var/lib/boardwalk", "--json", "iso", "create", "--name", "Trial"]);
    let made = tools::read(&mut program).context("the program does not run in its image")?;
    ensure!(made.contains("isoId"), "the image printed {made:?}");
    println!("ran {} as {user}", image.display());
    Ok(())
}
