// What the portal costs: bytes of the first load, which have a limit, and how soon it is there, which is
// reported and not judged, since machines differ.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { open, signIn, walk, world } from '../support.mjs';

const FIRST_LOAD_BYTES_MAX = 200 * 1024;
/** Of scripts, without what draws charts, which comes when the figures are there. */
const SCRIPT_BYTES_MAX = 60 * 1024;

describe('speed', () => {
  test('the first load is small, and the policy strict', (context) =>
    walk(
      async (page) => {
        // The browser keeps files that never change: what counts is the load before it knows any.
        const answers = [];
        page.on('response', (answer) => answers.push(answer));
        await signIn(page);
        await page.waitForURL(/portal\/analytics/);
        await page.waitForSelector('main .uplot');
        const files = answers.filter((answer) =>
          new URL(answer.url()).pathname.startsWith('/portal'),
        );
        const sizes = await Promise.all(
          files.map(async (file) => (await file.request().sizes()).responseBodySize),
        );
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        context.diagnostic(
          `the first load is ${Math.round(bytes / 1024)} KiB in ${files.length} files`,
        );
        assert.ok(bytes > 0 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`);
        const isScript = (file) => /\.js$/.test(file.url()) && !/uPlot/i.test(file.url());
        const script = files.reduce(
          (sum, file, index) => sum + (isScript(file) ? sizes[index] : 0),
          0,
        );
        context.diagnostic(`its scripts are ${Math.round(script / 1024)} KiB`);
        assert.ok(script > 0 && script < SCRIPT_BYTES_MAX, `${script} bytes of scripts`);
        const policy = (await files[0].allHeaders())['content-security-policy'];
        assert.match(policy, /default-src 'none'/);
        assert.doesNotMatch(policy, /unsafe|\*/);
        const shown = await page.evaluate(
          () => performance.getEntriesByType('navigation')[0].domInteractive,
        );
        context.diagnostic(`the page was interactive after ${Math.round(shown)} ms`);
      },
      { isSignedIn: false },
    ));

  test('the time that the overview takes after navigation is reported', (context) =>
    walk(async (page) => {
      await open(page, '/store/orders');
      await page.waitForTimeout(500);
      const took = await page.evaluate(
        () =>
          new Promise((resolve) => {
            const link = [...document.querySelectorAll('nav a')].find(
              (one) => one.textContent === 'Overview',
            );
            const started = performance.now();
            link.click();
            const look = () => {
              const isThere =
                document.querySelectorAll('main .uplot').length >= 4 &&
                document.querySelector('main .tile') &&
                document.querySelector('main tbody') &&
                !document.querySelector('main [aria-busy=true]');
              if (isThere) resolve(performance.now() - started);
              else requestAnimationFrame(look);
            };
            look();
          }),
      );
      context.diagnostic(
        `the overview was complete ${Math.round(took)} ms after navigation, with ${world.orders} orders made`,
      );
    }));
});
