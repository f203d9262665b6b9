// What the sessions of generated clients share: where the server is, who may come in, what they send,
// and steps that say what they checked. The first step that fails ends the session with status 1.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

interface Given {
  site: string;
  /** An API key of an ISO. */
  key: string;
  /** Names, each with `login:password`. */
  identities: Record<string, string>;
}

const given = JSON.parse(fs.readFileSync(0, "utf8")) as Given;

/** The roots of the two interfaces, as their documents name them. */
export const onboardingRoot = given.site;
export const restRoot = `${given.site}/wp-json`;
export const apiKey = `api-key ${given.key}`;
export const administrator = given.identities.admin ?? "";
export const basic = `Basic ${Buffer.from(administrator).toString("base64")}`;

/** Names are unique, so each session has its own. */
export const merchantOf = (name: string) => ({
  merchantData: {
    dba: name,
    firstName: "Maria",
    email: "maria@harbor.example",
    addressLine1: "12 Pier Road",
    zipCode: "10001",
    phoneNumber: "2125550142",
    ISDcode: "+1",
  },
  storeData: {
    mccCode: "5812",
    firstName: "Maria",
    dba: name,
    addressLine1: "12 Pier Road",
    zipCode: "10001",
    email: "maria@harbor.example",
    phoneNumber: "2125550142",
    ISDcode: "+1",
  },
  tpnData: {
    deviceManufacturer: "Kozen" as const,
    deviceModel: "P3" as const,
    tpnApplicationSign: "CRDT" as const,
    tpnRoutingType: "SIMPLE" as const,
    tpnProcessor: {
      processorName: "CKNX" as const,
      profile: [{ profileId: "01" as const, apiKey: "demo-processor-key" }],
    },
  },
});

/** The time that the report is about. */
export const REPORT = { after: "2020-01-01T00:00:00", before: "2030-01-01T00:00:00" };

/** The names of a document's operations. */
export function operations(document: "onboarding" | "rest"): string[] {
  const file = path.join(__dirname, "..", `${document}.json`);
  const { paths } = JSON.parse(fs.readFileSync(file, "utf8")) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((operation) => operation.operationId),
  );
}

/** The value, which must be there. */
export function present<T>(value: T | null | undefined, what: string): T {
  assert.ok(value !== null && value !== undefined, `there is no ${what}`);
  return value;
}

const steps: { name: string; work: () => Promise<void> | void }[] = [];

/** Adds a step; they run one after the other once the script is read. */
export function step(name: string, work: () => Promise<void> | void): void {
  steps.push({ name, work });
}

setImmediate(async () => {
  for (const { name, work } of steps) {
    try {
      await work();
    } catch (error) {
      console.error(`FAIL ${name}`);
      console.error(error instanceof Error ? error.stack : error);
      process.exit(1);
    }
    console.log(`ok   ${name}`);
  }
  assert.ok(steps.length > 0, "a session without steps checks nothing");
  console.log(`${steps.length} steps`);
});
