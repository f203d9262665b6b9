//! onboarding
