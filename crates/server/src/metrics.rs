//! What the server counts, for `GET /metrics`. Labels are bounded: operation names and statuses.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use types::Environment;

/// Counters of a running server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<OperationLabels, Histogram>,
    refused_keys: Family<RefusalLabels, Counter>,
    deliveries: Family<OutcomeLabels, Counter>,
    jobs: Family<OutcomeLabels, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    environment: EnvironmentLabel,
    op: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OperationLabels {
    environment: EnvironmentLabel,
    op: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalLabels {
    environment: EnvironmentLabel,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OutcomeLabels {
    environment: EnvironmentLabel,
    kind: String,
    outcome: &'static str,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct EnvironmentLabel(Environment);

impl EncodeLabelValue for EnvironmentLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.name().encode(encoder)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::default();
        let constructor: fn() -> Histogram = duration_histogram;
        let durations = Family::new_with_constructor(constructor);
        let refused_keys = Family::default();
        let mut registry = Registry::with_prefix("boardwalk");
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from the head of a request to its answer",
            durations.clone(),
        );
        registry.register("refused_keys", "API keys refused, by reason", refused_keys.clone());
        let deliveries = Family::default();
        let about = "Attempts to tell others of changes, by outcome";
        registry.register("delivery_attempts", about, deliveries.clone());
        let jobs = Family::default();
        registry.register("job_attempts", "Runs of background jobs, by outcome", jobs.clone());
        Self { registry, requests, durations, refused_keys, deliveries, jobs }
    }
}

/// From 100 microseconds to some 3 seconds.
fn duration_histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.0, 16))
}

impl Metrics {
    pub(crate) fn count_request(
        &self,
        environment: Environment,
        op: &str,
        status: u16,
        duration: Duration,
    ) {
        let environment = EnvironmentLabel(environment);
        let labels = RequestLabels { environment, op: op.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        let labels = OperationLabels { environment, op: op.to_owned() };
        self.durations.get_or_create(&labels).observe(duration.as_secs_f64());
    }

    pub(crate) fn count_refusal(&self, environment: Environment, reason: &'static str) {
        let labels = RefusalLabels { environment: EnvironmentLabel(environment), reason };
        self.refused_keys.get_or_create(&labels).inc();
    }

    pub(crate) fn count_delivery(
        &self,
        environment: Environment,
        kind: &str,
        outcome: &'static str,
    ) {
        let environment = EnvironmentLabel(environment);
        let labels = OutcomeLabels { environment, kind: kind.to_owned(), outcome };
        self.deliveries.get_or_create(&labels).inc();
    }

    pub(crate) fn count_job(&self, environment: Environment, kind: &str, outcome: &'static str) {
        let environment = EnvironmentLabel(environment);
        let labels = OutcomeLabels { environment, kind: kind.to_owned(), outcome };
        self.jobs.get_or_create(&labels).inc();
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let _ = encode(&mut text, &self.registry);
        text
    }
}
