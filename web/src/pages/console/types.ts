// Webhooks, their deliveries, events and audit entries as the onboarding interface shows them.

export interface Webhook {
  webhookId: string;
  url: string;
  description: string | null;
  events: string[];
  status: string;
  disabledReason: string | null;
}

export interface Delivery {
  deliveryId: string;
  eventId: string;
  eventType: string;
  status: string;
  attempts: number;
  responseStatus: number | null;
  nextAttempt: string | null;
}

export interface Event {
  type: string;
  timestamp: string;
  id: string;
  sequence: number;
  data: Record<string, unknown>;
}

export interface Audit {
  sequence: number;
  time: string;
  actor: string;
  ip: string | null;
  requestId: string | null;
  action: string;
  object: string;
  objectId: string;
  result: string;
  reason: string | null;
}
