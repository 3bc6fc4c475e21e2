/** Generates each operation's example: a curl command with the token of a caller that may run the operation. */
import type { OpenApiOperation, Route } from '@measurement-exchange/contract';
import { exampleOf, type Schemas } from './schema.ts';

interface ExampleParty {
  name: string;
  certificate: string;
}

export interface ExampleParties {
  measurementConsumers: readonly ExampleParty[];
  dataProviders: readonly ExampleParty[];
}

export interface Entry extends OpenApiOperation {
  path: string;
  method: string;
  route: Route;
}

/**
 * Returns the commands that set the examples' variables. The commands fetch the tokens, so the page contains no token.
 */
export function setupOf(parties: ExampleParties | undefined): string {
  if (parties === undefined) return 'TOKEN=… # an ID token from an issuer that this exchange trusts';
  return ['operator', ...callersOf(parties).map(({ name }) => name)]
    .map((name) => `${tokenOf(name)}=$(npm run -s mex -- token ${name})`)
    .join('\n');
}

export function curl(entry: Entry, schemas: Schemas, parties: ExampleParties | undefined): string {
  const { method, path, parameters, requestBody, route } = entry;
  const required = parameters
    .filter((parameter) => parameter.required)
    .map((parameter) => ({ ...parameter, value: exampleOf(parameter.schema, schemas) }));
  const url = required
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, value }) => text.replace(`{${name}}`, String(value)), path);
  const query = required
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, value }) => `${name}=${[value].flat().join(`&${name}=`)}`)
    .join('&');
  const lines = [
    `curl "$MEX_URL${url}${query === '' ? '' : `?${query}`}"`,
    `-H "Authorization: Bearer $${parties === undefined ? 'TOKEN' : tokenOf(callerOf(route, parties))}"`,
  ];
  if (method !== 'get') lines.push(`-X ${method.toUpperCase()}`);
  if (requestBody?.required) {
    const body = JSON.stringify(exampleOf(requestBody.content['application/json'].schema, schemas), null, 2);
    lines.push("-H 'Content-Type: application/json'", `-d '${body}'`);
  }
  return withNames(lines.join(' \\\n  '), parties);
}

function callersOf({ measurementConsumers, dataProviders }: ExampleParties): ExampleParty[] {
  return [...measurementConsumers.slice(0, 1), ...dataProviders.slice(0, 1)];
}

function callerOf({ access, path }: Route, parties: ExampleParties): string {
  const may = callersOf(parties).filter(({ name }) => {
    const rule = access[name.startsWith('dataProviders/') ? 'dataProvider' : 'measurementConsumer'];
    const isOwn = path.split('/')[0] === name.split('/')[0];
    return rule !== undefined && (rule !== 'own' || isOwn);
  });
  return may[0]?.name ?? 'operator';
}

/** Returns the name of a variable that `mex env` sets, such as `ACME_TOKEN` for `measurementConsumers/acme`. */
function tokenOf(name: string): string {
  return `${name.split('/').at(-1)!.toUpperCase().replaceAll('-', '_')}_TOKEN`;
}

function withNames(text: string, parties: ExampleParties | undefined): string {
  if (parties === undefined) return text;
  const madeUp = ['measurementConsumers/mc1', 'dataProviders/dp1'];
  return callersOf(parties).reduce((result, { name, certificate }) => {
    const known = madeUp.find((one) => one.split('/')[0] === name.split('/')[0])!;
    return result.replaceAll(`${known}/certificates/c1`, certificate).replaceAll(known, name);
  }, text);
}
