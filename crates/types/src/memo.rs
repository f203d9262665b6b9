//! A place beside something for what its readers want to keep: it does not know what that is.

use std::any::Any;
use std::sync::OnceLock;

#[derive(Debug, Default)]
pub struct Memo(OnceLock<Box<dyn Any + Send + Sync>>);

impl Memo {
    /// What is kept, made when it is first asked for. **Every caller asks for the same type.**
    pub fn get<T: Any + Default + Send + Sync>(&self) -> &T {
        let kept = self.0.get_or_init(|| Box::new(T::default()));
        kept.downcast_ref().expect("a memo holds one type")
    }
}
