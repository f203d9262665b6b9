// Every view, on a desk, in the dark and on a phone: it loads, nothing is wrong for people who use a
// keyboard or a screen reader, and nothing is wider than the screen.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemsOf, open, walk } from '../support.mjs';
import { everyView } from '../views.mjs';

describe('every view', () => {
  for (const [name, options] of [
    ['on a desk', {}],
    ['in the dark', { colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
    ['on a phone in the dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ]) {
    test(`${name} loads, is fit for everybody, and fits the screen`, () =>
      walk(
        async (page) => {
          const problems = [];
          for (const view of await everyView(page)) {
            await open(page, view);
            if (await page.getByText('Could not load this').count())
              problems.push(`${view} could not be loaded`);
            if (await page.getByText('Page not found').count()) problems.push(`${view} is no page`);
            for (const problem of await problemsOf(page)) problems.push(`${view}: ${problem}`);
          }
          assert.deepEqual(problems, []);
        },
        { options },
      ));
  }

  test('an unknown address shows a message and a way back', () =>
    walk(async (page) => {
      await open(page, '/nowhere');
      await page.getByText('Page not found').waitFor();
      assert.deepEqual(await problemsOf(page), []);
      await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
      await page.waitForURL(/\/portal\/analytics/);
    }));
});
