/**
 * Serves the development issuer over HTTP: discovery, keys, a page to pick a demo party, and tokens in exchange for
 * codes. Signing in requires no password.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../apiReference/html.ts';
import { DevCodes } from '../auth/devCodes.ts';
import { DEV_AUDIENCE, LIFETIME_SECONDS } from '../auth/devIssuer.ts';
import type { Development } from './index.ts';

/** The issuer sends authorization codes only to this page of the exchange's own console. */
const RETURN_PATH = '/signed-in';
const MAX_BODY_BYTES = 8 * 1024;

type Parameters = Record<string, string | undefined>;

export function registerDevIssuer(app: FastifyInstance, development: () => Development | undefined): void {
  const codes = new DevCodes();
  app.get('/dev/.well-known/openid-configuration', () => development()?.issuer.discovery);
  app.get('/dev/jwks', () => development()?.issuer.jwks);
  // Register the form parser in a plugin, because a plugin's parsers apply only to its own routes. All other routes
  // still reject forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    scope.get('/dev/authorize', (request, reply) => authorize(request, reply, development(), codes));
    scope.post('/dev/token', (request, reply) => token(request, reply, development(), codes));
  });
}

/** Shows the page to pick a party. If `login_hint` names a party, redirects with a code immediately instead. */
function authorize(
  request: FastifyRequest,
  reply: FastifyReply,
  development: Development | undefined,
  codes: DevCodes,
): FastifyReply {
  if (development === undefined) return reply.code(503).send('The exchange is starting.');
  const { issuer } = development.issuer;
  const parameters = request.query as Parameters;
  const problem = hostProblem(request, issuer) ?? requestProblem(parameters, issuer);
  if (problem !== undefined) return reply.code(400).type('text/plain; charset=utf-8').send(problem);
  const {
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
    state,
    login_hint: principal,
  } = parameters;
  if (principal !== undefined && development.everybody.some(({ name }) => name === principal)) {
    const target = new URL(redirectUri!);
    target.searchParams.set(
      'code',
      codes.issue({ principal, redirectUri: redirectUri!, codeChallenge: codeChallenge! }),
    );
    target.searchParams.set('iss', issuer);
    if (state !== undefined) target.searchParams.set('state', state);
    return reply.redirect(target.href, 303);
  }
  return reply
    .headers(PAGE_HEADERS)
    .type('text/html; charset=utf-8')
    .send(page(development, parameters).text);
}

async function token(
  request: FastifyRequest,
  reply: FastifyReply,
  development: Development | undefined,
  codes: DevCodes,
): Promise<FastifyReply> {
  const form = (request.body ?? {}) as Parameters;
  const { grant_type: type, code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '' } = form;
  const isOurs =
    development !== undefined &&
    hostProblem(request, development.issuer.issuer) === undefined &&
    form.client_id === DEV_AUDIENCE;
  if (!isOurs) return reply.code(401).send({ error: 'invalid_client' });
  if (type !== 'authorization_code') return reply.code(400).send({ error: 'unsupported_grant_type' });
  const principal = codes.redeem(code, redirectUri, verifier);
  if (principal === undefined) return reply.code(400).send({ error: 'invalid_grant' });
  const jwt = await development.issuer.mint(principal);
  return reply.send({ access_token: jwt, id_token: jwt, token_type: 'Bearer', expires_in: LIFETIME_SECONDS });
}

/**
 * Returns an error message if the request is for another host name. Without this check, a foreign page could get tokens
 * by DNS rebinding, which makes the page's host name resolve to this machine.
 */
function hostProblem({ headers }: FastifyRequest, issuer: string): string | undefined {
  const { host } = new URL(issuer);
  return headers.host === host ? undefined : `The development issuer answers only at ${host}.`;
}

function requestProblem(parameters: Parameters, issuer: string): string | undefined {
  const expected = {
    client_id: DEV_AUDIENCE,
    redirect_uri: `${new URL(issuer).origin}${RETURN_PATH}`,
    response_type: 'code',
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(expected)) {
    if (parameters[name] !== value) return `${name} must be ${value}.`;
  }
  return /^[\w-]{43}$/.test(parameters.code_challenge ?? '')
    ? undefined
    : 'code_challenge must be a SHA-256.';
}

const ROLES: Record<string, string> = {
  measurementConsumers: 'Advertiser: ask, see results',
  dataProviders: 'Publisher: answer, watch the budget',
  duchies: 'Duchy: computations and stages',
  operator: 'Runs the exchange',
};

const STYLE = `:root{color-scheme:light dark}body{margin:0 auto;max-width:520px;padding:32px 16px;font:14px/1.45 system-ui,sans-serif;
background:light-dark(#f5f6f7,#0e1114);color:light-dark(#15191e,#e9edf0)}h1{font-size:20px;margin:0 0 4px}
p{color:light-dark(#46505b,#b3bcc5);margin:0 0 16px}a{display:block;padding:10px 12px;margin:0 0 8px;border-radius:7px;
border:1px solid light-dark(#c9d0d6,#39424b);background:light-dark(#fff,#15191d);color:inherit;text-decoration:none}
a:hover{border-color:light-dark(#2a4fa6,#9db8ff)}b,span{display:block}span{font-size:12px;color:light-dark(#5d6873,#929da8)}`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const PAGE_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
};

function page(development: Development, parameters: Parameters): Html {
  const link = (name: string) =>
    `/dev/authorize?${new URLSearchParams({ ...(parameters as Record<string, string>), login_hint: name })}`;
  const choices = development.everybody.map(
    ({ name, displayName }) =>
      html`<a href="${link(name)}"><b>${displayName}</b><span>${ROLES[name.split('/')[0]!]}</span></a>`,
  );
  return html`<!doctype html><html lang="en-US"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pick a demo party</title><style>${new Html(STYLE)}</style><main><h1>Pick a demo party</h1>
<p>This is a development exchange. No password: each choice signs you in.</p>${choices}</main></html>`;
}
