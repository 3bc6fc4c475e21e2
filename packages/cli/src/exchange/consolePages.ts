/** Serves the console from the exchange. Uses private keys only in development mode, and only those of demo parties. */
import type { ServedBy } from '@measurement-exchange/console/companion';
import type { ConsoleFiles } from '@measurement-exchange/console/files';
import { ExchangeError, parseJsonBytes, toPlainJson } from '@measurement-exchange/contract';
import type { AddPages, PageContext } from '@measurement-exchange/exchange';
import type { Config } from '@measurement-exchange/exchange/config';
import manifest from '../../package.json' with { type: 'json' };
import { actingAs } from '../calls/keys.ts';
import { CompanionCalls } from '../console/companionCalls.ts';
import { loadConsole } from '../console/load.ts';

type App = Parameters<AddPages>[0];
type Issuers = NonNullable<ServedBy['issuers']>;

export async function consolePages(
  { issuers }: Pick<Config, 'issuers'>,
  tell?: (message: string) => void,
): Promise<AddPages> {
  const files = await loadConsole(
    issuers.map(({ issuer }) => new URL(issuer).origin),
    tell,
  );
  // Use the audience as the client ID, because the audience of an ID token is the ID of the client that requested it.
  const clients = issuers.map(({ issuer, audience }) => ({
    ...{ issuer, clientId: audience, name: new URL(issuer).host },
  }));
  return (app, context) => {
    app.get('/console.json', () => describe(context, clients));
    registerCompanion(app, context);
    registerFiles(app, context, files);
  };
}

function describe({ development }: PageContext, issuers: Issuers): ServedBy {
  const demo = development();
  return {
    by: 'exchange',
    api: '',
    development: demo !== undefined,
    version: manifest.version,
    issuers: [...(demo ? [demoIssuer(demo)] : []), ...issuers],
    companion: demo !== undefined,
  };
}

function demoIssuer({
  issuer,
  everybody,
}: NonNullable<ReturnType<PageContext['development']>>): Issuers[number] {
  return {
    issuer: issuer.issuer,
    clientId: issuer.issuerConfig.audience,
    name: 'Demo parties',
    parties: everybody.map(({ name, displayName }) => ({ principal: name, displayName })),
  };
}

/** Serves the companion of the demo parties. Each call uses the keys of the demo party that the token identifies. */
function registerCompanion(app: App, { callerOf, development }: PageContext): void {
  const companions = new Map<string, CompanionCalls>();
  const callers = new WeakMap<object, string>();
  app.addHook('onClose', () => {
    for (const companion of companions.values()) companion.close();
  });
  app.post<{ Params: { method: string } }>('/companion/:method', {
    async onRequest(request) {
      if (development() === undefined)
        throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
      callers.set(request, await callerOf(request));
    },
    async handler(request, reply) {
      const as = callers.get(request)!;
      const companion = companions.get(as) ?? new CompanionCalls(() => actingAs({ as }));
      companions.set(as, companion);
      const input = toPlainJson(parseJsonBytes((request.body as Buffer | undefined) ?? Buffer.alloc(0)));
      const { status, json } = await companion.call(request.params.method, input);
      return reply.code(status).type('application/json; charset=utf-8').send(json);
    },
  });
}

function registerFiles(app: App, { development }: PageContext, files: ConsoleFiles): void {
  app.get<{ Params: { '*': string } }>('/*', (request, reply) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const [path = '/'] = request.originalUrl.split('?');
    const found = files.respond({ path, accept, acceptEncoding: acceptEncoding?.toString() });
    if (found === undefined) throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
    // Redirect from `localhost` to the address that the development issuer uses, because sign-in works only there.
    const own = URL.parse(development()?.issuer.issuer ?? '');
    if (own !== null && request.host === `localhost:${own.port}`) {
      return reply.redirect(`${own.origin}${request.originalUrl}`, 302);
    }
    return reply.headers(found.headers).send(found.body);
  });
}
