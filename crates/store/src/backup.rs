//! One backup format for both engines.
