//! Files that people upload, and the smaller forms of pictures: what is known of them without a
//! site.
//!
//! A body is received into a temporary file ([`Receiver`]). Files are told apart by what is in them
//! ([`file_type`]), freed of what they say about people and places ([`strip`]), named
//! ([`file_name`]) and put into a [`storage`]; pictures get their sizes ([`sizes`], [`picture`]).
//! What is done with all of it stands in [`crate::library`].

pub mod file_name;
pub mod file_type;
pub mod folder;
pub mod picture;
pub mod placeholder;
pub mod receive;
pub mod settings;
pub mod shown;
pub mod sizes;
pub mod storage;
pub(crate) mod strip;

use std::sync::Arc;

use tokio::sync::Semaphore;

pub use self::folder::FolderStorage;
pub use self::receive::{Receiver, Upload};
pub use self::settings::MediaSettings;
pub use self::sizes::PictureSize;
pub use self::storage::FileStorage;

/// The library of a site: where its files are, in which sizes, and how much is done at once.
#[derive(Debug)]
pub struct Library {
    pub(crate) storage: Arc<dyn FileStorage>,
    pub(crate) sizes: Vec<PictureSize>,
    /// Pictures that are worked on at once.
    pub(crate) workers: Semaphore,
    /// What the picture is called that stands for missing ones, if there is one.
    placeholder: Option<&'static str>,
}

impl Library {
    /// Besides the sizes that every site has, there are those that are asked for.
    pub fn new(storage: Arc<dyn FileStorage>, sizes: &[PictureSize], workers: usize) -> Self {
        let sizes = sizes::USUAL.iter().chain(sizes).copied().collect();
        let workers = Semaphore::new(workers.max(1));
        Self { storage, sizes, workers, placeholder: None }
    }

    /// Says what the picture is called that stands for missing ones: a file of the type WebP.
    #[must_use]
    pub fn with_placeholder(mut self, name: &'static str) -> Self {
        self.placeholder = Some(name);
        self
    }

    pub fn placeholder(&self) -> Option<&'static str> {
        self.placeholder
    }

    /// The library of a site that was given no place for files.
    pub(crate) fn none() -> Self {
        Self::new(Arc::new(storage::NoStorage), &[], 1)
    }

    pub fn storage(&self) -> &Arc<dyn FileStorage> {
        &self.storage
    }

    pub fn sizes(&self) -> &[PictureSize] {
        &self.sizes
    }
}
