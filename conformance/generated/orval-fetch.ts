// What the functions of `orval` send their requests with: the document's addresses are where a
// server usually is, and this one is elsewhere.
import * as session from "./session";

export async function send<T>(url: string, options: RequestInit): Promise<T> {
  const isOnboarding = url.startsWith("/v1/");
  const headers = new Headers(options.headers);
  headers.set("Authorization", isOnboarding ? session.apiKey : session.basic);
  const root = isOnboarding ? session.onboardingRoot : session.restRoot;
  const answer = await fetch(root + url, { ...options, headers });
  const text = await answer.text();
  const data: unknown = text ? JSON.parse(text) : undefined;
  return { data, status: answer.status, headers: answer.headers } as T;
}
