import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** Where `npm run dev` finds a running server; `boardwalk demo` listens there. */
const server = 'http://127.0.0.1:8080';
const passed = ['/wp-json', '/v1', '/session', '/login', '/docs', '/theme.css'];

export default defineConfig({
  base: '/portal/',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // The first that know light-dark(), on which the palette and the themes build.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy of the portal allows no inline script and no data: script.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  // The proxied server answers preflights itself.
  server: { cors: false, proxy: Object.fromEntries(passed.map((path) => [path, server])) },
});
