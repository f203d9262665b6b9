//! A tree of files as it is to be on another machine, and its archive. **The same tree makes the
//! same bytes**, whoever packs it, wherever and whenever.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

pub(super) const PLAIN: u32 = 0o644;
pub(super) const PROGRAM: u32 = 0o755;
const FOLDER: u32 = 0o755;

/// Files by their path, without a leading slash. Folders come before what is in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
}

#[derive(Clone, Debug)]
struct Node {
    mode: u32,
    owner: u64,
    /// A folder has none.
    content: Option<Vec<u8>>,
}

impl Tree {
    pub(super) fn file(&mut self, path: &str, mode: u32, content: impl Into<Vec<u8>>) {
        self.insert(path, Node { mode, owner: 0, content: Some(content.into()) });
    }

    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: u64) {
        self.insert(path, Node { mode, owner, content: None });
    }

    fn insert(&mut self, path: &str, node: Node) {
        for (end, _) in path.match_indices('/') {
            let parent = path.get(..end).unwrap_or_default().to_owned();
            self.nodes.entry(parent).or_insert(Node { mode: FOLDER, owner: 0, content: None });
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Everything below a folder of the name.
    pub(super) fn below(self, folder: &str) -> Self {
        let mut tree = Tree::default();
        for (path, node) in self.nodes {
            tree.insert(&format!("{folder}/{path}"), node);
        }
        tree
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.values().filter_map(|node| node.content.as_ref()).map(Vec::len).sum()
    }

    /// As a tar archive, with one time for everything.
    pub(super) fn tar(&self, epoch_s: u64) -> Result<Vec<u8>> {
        let mut archive = Builder::new(Vec::new());
        for (path, node) in &self.nodes {
            let mut header = Header::new_gnu();
            header.set_mode(node.mode);
            header.set_uid(node.owner);
            header.set_gid(node.owner);
            header.set_mtime(epoch_s);
            let content = node.content.as_deref().unwrap_or_default();
            header.set_size(u64::try_from(content.len())?);
            let is_folder = node.content.is_none();
            header.set_entry_type(if is_folder {
                EntryType::Directory
            } else {
                EntryType::Regular
            });
            let path = if is_folder { format!("{path}/") } else { path.clone() };
            archive
                .append_data(&mut header, &path, content)
                .with_context(|| format!("cannot pack {path}"))?;
        }
        archive.into_inner().context("cannot pack the files")
    }
}

pub(super) fn gzip(bytes: &[u8], level: Compression) -> Result<Vec<u8>> {
    let mut packer = GzBuilder::new().write(Vec::new(), level);
    packer.write_all(bytes)?;
    Ok(packer.finish()?)
}
