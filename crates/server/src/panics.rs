//! A panic ends one request, not the process: it becomes a message for the log.

use std::panic::AssertUnwindSafe;

/// Awaits a future; a panic in it becomes its message.
pub(crate) async fn catch_panic<T>(
    future: AssertUnwindSafe<impl Future<Output = T>>,
) -> Result<T, String> {
    let mut future = std::pin::pin!(future.0);
    std::future::poll_fn(move |context| {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|t| (*t).to_owned()));
                std::task::Poll::Ready(Err(text.unwrap_or_default()))
            }
        }
    })
    .await
}
