// The active theme of the site. Its colours and fonts are a style sheet of the server's, which the page
// loads before it is drawn; here are its logo and texts, and how another theme comes into force.
import { get, rest } from './api';

interface ActiveTheme {
  logo: string | null;
  texts: { footer: string; welcome: string };
}

/** Only a picture that is part of the theme is shown; nothing is fetched. */
const isOwn = (logo: string | null | undefined): logo is string =>
  logo?.startsWith('data:image/') ?? false;

class Theme {
  logo = $state<string>();
  footer = $state('');
  welcome = $state('');
  /** Grows when the colours change, for what is drawn and not styled. */
  version = $state(0);

  /** A site without a theme, or whose theme cannot be read, looks as usual. */
  async read(): Promise<void> {
    const active = await get<ActiveTheme | null>(rest('boardwalk/v1/theme')).catch(() => null);
    this.logo = isOwn(active?.logo) ? active.logo : undefined;
    this.footer = active?.texts?.footer ?? '';
    this.welcome = active?.texts?.welcome ?? '';
  }

  /** After another theme was activated: its style sheet takes the place of the old one once it is there. */
  async renew(): Promise<void> {
    const old = document.getElementById('theme');
    if (!(old instanceof HTMLLinkElement)) return;
    const next = old.cloneNode() as HTMLLinkElement;
    next.href = `/theme.css?at=${Date.now()}`;
    await Promise.all([
      this.read(),
      new Promise((resolve) => {
        next.onload = next.onerror = resolve;
        old.after(next);
      }),
    ]);
    old.remove();
    this.version++;
  }
}

export const theme = new Theme();
