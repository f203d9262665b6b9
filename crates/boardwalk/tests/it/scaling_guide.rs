//! The commands of docs/scaling.md, from one SQLite file to three nodes, two shards and a standby:
//! run one after the other, as an ordinary user in an empty folder would.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::free_port;
use testkit::postgres::Workplace;

use crate::support::PROGRAM;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scaling.md");
const SECTION: &str = "## From one SQLite file to three nodes, two shards and a standby\n";
const PORTS: [&str; 8] =
    ["PRIMARY", "STANDBY", "BALANCER", "NODE1", "NODE2", "NODE3", "SHARD1", "SHARD2"];
/// A run takes a few seconds; then everything is ended.
const SECONDS_MAX: &str = "120";
/// Whatever becomes of the commands, nothing of them stays.
const END: &str = "
end() {
    kill $(jobs -p) $(cat haproxy.pid) || true
    for cluster in primary standby; do kill -QUIT $(head -n 1 $cluster/postmaster.pid) || true; done
} > /dev/null 2>&1
trap end EXIT
";

#[test]
fn its_commands_lead_to_three_nodes_two_shards_and_a_standby() {
    let text = fs::read_to_string(GUIDE).unwrap();
    let section = text.split_once(SECTION).expect("the guide has the section").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks: Vec<&str> = section
        .split("```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap_or_default())
        .collect();
    assert!(blocks.len() >= 8, "{blocks:?}");

    let workplace = Workplace::new().unwrap();
    let program = workplace.folder().join("boardwalk");
    fs::copy(PROGRAM, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!("set -euo pipefail\nPATH=\"$PWD:$PATH\"\n{END}\n{}", blocks.join("\n"));
    let mut command = workplace.command("timeout");
    command.args([SECONDS_MAX, "bash", "-c", &script]).env_remove("BOARDWALK_DATABASE__URL");
    for name in PORTS {
        command.env(name, free_port().unwrap().to_string());
    }
    let output = command.output().unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{said}\n{complaint}", output.status);
    assert!(said.contains("Wrote 0 orders to ClickHouse"), "{said}\n{complaint}");
    assert!(said.to_lowercase().contains("x-boardwalk-facts: clickhouse; lag="), "{said}");
    assert!(said.contains("\"orders_count\":1"), "{said}\n{complaint}");
    assert!(said.contains("Registered After the failover"), "{said}\n{complaint}");
}
