// Lighthouse's marks of pages. Takes the addresses as arguments, the cookies from COOKIE, audits to
// leave out from SKIP and the browser from CHROMIUM; prints a JSON object a line, with what kept a
// mark below 100.
import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';

const chrome = await launch({
  chromePath: process.env.CHROMIUM,
  chromeFlags: ['--headless', '--no-sandbox', '--disable-gpu'],
});
try {
  for (const url of process.argv.slice(2)) {
    const { lhr } = await lighthouse(url, {
      port: chrome.port,
      onlyCategories: ['performance', 'accessibility', 'best-practices', 'seo'],
      extraHeaders: process.env.COOKIE ? { Cookie: process.env.COOKIE } : {},
      skipAudits: process.env.SKIP ? process.env.SKIP.split(',') : [],
      logLevel: 'error',
    });
    const marks = Object.fromEntries(
      Object.values(lhr.categories).map((one) => [one.id, Math.round(one.score * 100)]),
    );
    const short = Object.values(lhr.audits)
      .filter((audit) => audit.score !== null && audit.score < 0.9)
      .map((audit) => `${audit.id}: ${audit.displayValue ?? audit.title}`);
    console.log(JSON.stringify({ url: lhr.finalDisplayedUrl, marks, short }));
  }
} finally {
  chrome.kill();
}
