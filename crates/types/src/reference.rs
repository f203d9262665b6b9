//! Reference data built into the binary.
