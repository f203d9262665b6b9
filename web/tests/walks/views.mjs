// Every view, on a desk, in the dark and on a phone: it loads, nothing is wrong for people who use a
// keyboard or a screen reader, and nothing is wider than the screen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hindrancesOf, open, problemsOf, walk } from '../support.mjs';
import { everyView } from '../views.mjs';

const DESK = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };

/** The dark changes colours alone. */
const LOOKS = [
  ['on a desk', DESK, 'light'],
  ['on a desk in the dark', DESK, 'dark', ['color-contrast']],
  ['on a phone', PHONE, 'light'],
  ['on a phone in the dark', PHONE, 'dark', ['color-contrast']],
];

describe('every view', () => {
  test('loads, is fit for everybody, and fits the screen', () =>
    walk(async (page) => {
      const problems = [];
      for (const view of await everyView(page)) {
        await page.setViewportSize(DESK);
        await open(page, view);
        if (await page.getByText('Could not load this').count())
          problems.push(`${view} could not be loaded`);
        if (await page.getByText('Page not found').count()) problems.push(`${view} is no page`);
        for (const [name, size, colorScheme, rules] of LOOKS) {
          await page.setViewportSize(size);
          await page.emulateMedia({ colorScheme });
          for (const problem of await problemsOf(page, { rules }))
            problems.push(`${view} ${name}: ${problem}`);
        }
      }
      assert.deepEqual(problems, []);
    }));

  test('an unknown address shows a message and a way back', () =>
    walk(async (page) => {
      await open(page, '/nowhere');
      await page.getByText('Page not found').waitFor();
      assert.deepEqual(await hindrancesOf(page), []);
      await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
      await page.waitForURL(/\/portal\/analytics/);
    }));
});
