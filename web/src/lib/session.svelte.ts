// Who is signed in, what they may do, and how this site writes money, numbers and time.
import { get, renewNonce, rest, whenSessionEnds } from './api';
import type { Me as Described } from './generated';
import { plainText } from './plain';

export interface CurrencyFormat {
  code: string;
  symbol: string;
  position: 'left' | 'right' | 'left_space' | 'right_space';
  decimals: number;
  decimal_separator: string;
  thousand_separator: string;
}

/** Who is signed in and where, and how money is written there. */
export type Me = Omit<Described, 'site'> & {
  site: Omit<Described['site'], 'environment' | 'environments'> & {
    environment: 'sandbox' | 'production';
    /** The addresses of the environments that this process serves. */
    environments: Record<string, string>;
    currency: CurrencyFormat;
  };
};

/** Whether the onboarding interface allows somebody what the scope says; `*` is everything. */
export const allows = (user: Me['user'], scope = ''): boolean =>
  user.scopes.includes('*') || user.scopes.includes(scope);

class Session {
  me = $state<Me>();
  isKnown = $state(false);
  /** Whether it ran out or was ended elsewhere while this page was open. */
  isOver = $state(false);

  async open(): Promise<void> {
    whenSessionEnds(() => (this.isOver = true));
    if (await renewNonce()) {
      const [me, currency] = await Promise.all([
        get<Me>(rest('boardwalk/v1/me')),
        get<CurrencyFormat>(rest('boardwalk/v1/currency')),
      ]);
      me.site.currency = currency;
      // The server writes the sign as HTML.
      me.site.currency.symbol = plainText(me.site.currency.symbol);
      this.me = me;
    }
    this.isKnown = true;
  }

  may(capability: string): boolean {
    return this.me?.user.capabilities.includes(capability) ?? false;
  }

  /** Whether the user may do what the scope of the onboarding interface says. */
  allows(scope: string): boolean {
    return this.me !== undefined && allows(this.me.user, scope);
  }
}

export const session = new Session();

/** The site's conventions. Pages are shown only when they are known. */
export function site(): Me['site'] {
  if (!session.me) throw new Error('nobody is signed in');
  return session.me.site;
}
