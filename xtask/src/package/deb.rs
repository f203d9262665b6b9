//! The Debian package: an `ar` archive of two tar archives, written here, because that is twenty
//! lines and needs no tool on the machine that packs. `dpkg` itself judges it in the trial.

use std::env;
use std::fs;

use anyhow::{Context, Result, bail};

use super::Product;
use super::tree::{PLAIN, PROGRAM, Tree, gzip};
use crate::tools;

const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// What a member of an `ar` archive begins with is this long.
const AR_FIELD_BYTES: [usize; 6] = [16, 12, 6, 6, 8, 10];

/// What dpkg calls the processor that this program was built for.
pub(super) fn architecture() -> Result<&'static str> {
    Ok(match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("packages are made for x86_64 and aarch64, not for {other}"),
    })
}

pub(super) fn pack(product: &Product) -> Result<Vec<u8>> {
    let files = files(product);
    let control = control(product, files.bytes())?;
    let mut deb = b"!<arch>\n".to_vec();
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&control.tar(product.epoch_s)?, product.compression)?),
        ("data.tar.gz", gzip(&files.tar(product.epoch_s)?, product.compression)?),
    ];
    for (name, content) in members {
        let (time, size) = (product.epoch_s.to_string(), content.len().to_string());
        for (field, width) in [name, &time, "0", "0", "100644", &size].iter().zip(AR_FIELD_BYTES) {
            deb.extend(format!("{field:<width$}").into_bytes());
        }
        deb.extend(b"`\n");
        deb.extend(&content);
        if content.len() % 2 == 1 {
            deb.push(b'\n');
        }
    }
    Ok(deb)
}

/// What is installed, and where Debian wants it.
fn files(product: &Product) -> Tree {
    let mut tree = Tree::default();
    tree.file("usr/bin/boardwalk", PROGRAM, product.binary.clone());
    tree.file("lib/systemd/system/boardwalk.service", PLAIN, product.unit.clone());
    tree.file("etc/boardwalk/boardwalk.toml", 0o600, product.config.clone());
    for (name, page) in &product.man_pages {
        tree.file(&format!("usr/share/man/man1/{name}.gz"), PLAIN, page.clone());
    }
    for (shell, script) in &product.completions {
        let path = match *shell {
            "bash" => "usr/share/bash-completion/completions/boardwalk",
            "zsh" => "usr/share/zsh/vendor-completions/_boardwalk",
            _ => "usr/share/fish/vendor_completions.d/boardwalk.fish",
        };
        tree.file(path, PLAIN, script.clone());
    }
    for (name, text) in &product.documents {
        let name = if name == "LICENSE" { "copyright" } else { name };
        tree.file(&format!("usr/share/doc/boardwalk/{name}"), PLAIN, text.clone());
    }
    tree
}

fn control(product: &Product, bytes: usize) -> Result<Tree> {
    let folder = tools::root().join("packaging/debian");
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let mut tree = Tree::default();
    let values = [
        ("{version}", product.version.clone()),
        ("{architecture}", architecture()?.to_owned()),
        ("{kilobytes}", bytes.div_ceil(1024).to_string()),
        ("{libc}", needed_libc(&product.binary)),
    ];
    let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
    tree.file("control", PLAIN, values.iter().fold(read("control")?, fill));
    tree.file("conffiles", PLAIN, read("conffiles")?);
    for script in SCRIPTS {
        tree.file(script, PROGRAM, read(script)?);
    }
    Ok(tree)
}

/// The newest version of the C library that a symbol of the program asks for.
fn needed_libc(binary: &[u8]) -> String {
    let mark = b"GLIBC_2.";
    let minor = |at: usize| {
        let digits = binary.get(at + mark.len()..)?;
        let digits: Vec<u8> = digits.iter().copied().take_while(u8::is_ascii_digit).collect();
        String::from_utf8(digits).ok()?.parse::<u32>().ok()
    };
    let places = binary.windows(mark.len()).enumerate().filter(|(_, bytes)| bytes == mark);
    let newest = places.filter_map(|(at, _)| minor(at)).max().unwrap_or(0);
    format!("2.{newest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_decides() {
        assert_eq!(needed_libc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0"), "2.34");
        assert_eq!(needed_libc(b"static"), "2.0");
    }
}
