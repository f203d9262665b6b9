// Prints events, those that exist and then those that come; remembers where it was.
// BOARDWALK_SERVER and BOARDWALK_API_KEY say where, and with which key. With a number, it ends after as
// many events.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { Boardwalk } from 'boardwalk-sdk';

const place = process.env['PLACE'] ?? 'last-event.txt';
let left = Number(process.argv[2] ?? Infinity);

const boardwalk = new Boardwalk({
  server: process.env['BOARDWALK_SERVER'] ?? '',
  apiKey: process.env['BOARDWALK_API_KEY'] ?? '',
});
const after = existsSync(place) ? Number(readFileSync(place, 'utf8')) : 0;
const events = boardwalk.events.list({ after, types: 'merchant.*' });

for await (const event of events.follow({ pollMs: 1000 })) {
  console.log(`${event.sequence} ${event.type} ${(event.data as { id: string }).id}`);
  // Only once the event is dealt with: after a crash it comes again, and is not lost.
  writeFileSync(place, String(event.sequence));
  left -= 1;
  if (left === 0) break;
}
