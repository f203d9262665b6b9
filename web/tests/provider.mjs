// A real provider of OpenID Connect, in which everybody is whom they say and every password is right.
import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

/** What the site is told of it. */
const CLIENT = { id: 'boardwalk', secret: 'a secret between two programs' };
export const PROVIDER_NAME = 'Pier Accounts';

/** Users of the provider whose address it has not verified begin so. */
const UNVERIFIED = 'unverified-';

export async function startProvider() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        // Of an application on this machine the port does not count; the site's is not known yet.
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/login/openid'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['keys of a test'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: !id.startsWith(UNVERIFIED) }),
    }),
  });
  server.on('request', provider.callback());
  return {
    issuer,
    settings: {
      BOARDWALK_SITE__OPENID__ISSUER: issuer,
      BOARDWALK_SITE__OPENID__CLIENT_ID: CLIENT.id,
      BOARDWALK_SITE__OPENID__CLIENT_SECRET: CLIENT.secret,
      BOARDWALK_SITE__OPENID__NAME: PROVIDER_NAME,
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
