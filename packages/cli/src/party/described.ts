/** Looks up the event groups that a consumer can measure, and reports providers and event groups that do not exist. */
import type { EventGroup } from '@measurement-exchange/contract';
import type { ExchangeClient, MeasurementRequest } from '@measurement-exchange/sdk';
import { WHOLE_LIST } from '../calls/command.ts';
import { visible } from '../terminal/output.ts';

export interface ProviderChoice {
  name: string;
  /**
   * IDs of event groups, or references (the provider's own IDs of the event groups). If absent, all of the provider's
   * event groups are measured.
   */
  eventGroups?: string[];
}

/**
 * Returns the chosen event groups of each provider. Throws one error that lists all unknown providers, all unknown
 * event groups, and all providers without event groups for this consumer. The error also suggests existing names.
 */
export async function chosenGroups(
  client: ExchangeClient,
  consumer: string,
  choices: ProviderChoice[],
): Promise<Map<string, EventGroup[]>> {
  const described = new Map(choices.map(({ name }) => [name, [] as EventGroup[]]));
  const filter = { 'filter.dataProviders': [...described.keys()] };
  for await (const group of client.listEventGroups({ parent: consumer, ...filter, ...WHOLE_LIST })) {
    described.get(group.dataProvider!)?.push(group);
  }
  const silent = choices.filter(({ name }) => described.get(name)!.length === 0).map(({ name }) => name);
  const unknown = await unknownProviders(client, silent);
  const problems = [
    ...unknown.problems,
    ...silent
      .filter((name) => !unknown.names.includes(name))
      .map(
        (name) => `${name} has described no event group to ${consumer}: ask it to (mex event-groups create).`,
      ),
  ];
  const chosen = new Map<string, EventGroup[]>();
  for (const { name, eventGroups } of choices) {
    const all = described.get(name)!;
    const found = eventGroups?.map((text) => find(all, text)) ?? all;
    const missing = all.length > 0 ? (eventGroups ?? []).filter((_, i) => found[i] === undefined) : [];
    if (missing.length > 0) problems.push(missingGroups(name, missing, all));
    chosen.set(
      name,
      found.filter((group) => group !== undefined),
    );
  }
  requireNone(problems);
  return chosen;
}

/** Throws if a provider does not exist. The error lists all unknown providers, and up to MAX_LISTED existing ones. */
export async function requireProviders(client: ExchangeClient, names: string[]): Promise<void> {
  requireNone((await unknownProviders(client, names)).problems);
}

/**
 * Returns the providers and event groups that a request names. Returns undefined if the request is malformed. In that
 * case, the SDK later reports what is wrong with the request.
 */
export function choicesIn({ dataProviders }: MeasurementRequest): ProviderChoice[] | undefined {
  if (!Array.isArray(dataProviders) || dataProviders.length === 0) return undefined;
  const choices = dataProviders.map((provider) => {
    const { name, eventGroups = [] } = provider ?? {};
    if (!/^dataProviders\/[A-Za-z0-9_-]{1,63}$/.test(String(name)) || !Array.isArray(eventGroups))
      return undefined;
    const ids = eventGroups.map(
      (group) => /\/eventGroups\/([A-Za-z0-9_-]{1,63})$/.exec(String(group?.name))?.[1],
    );
    return ids.every((id) => id !== undefined) ? { name: name as string, eventGroups: ids } : undefined;
  });
  return choices.every((choice) => choice !== undefined) ? choices : undefined;
}

export function idOf({ name }: EventGroup): string {
  return name!.split('/').at(-1)!;
}

async function unknownProviders(client: ExchangeClient, names: string[]) {
  if (names.length === 0) return { names, problems: [] };
  const parties = await Array.fromAsync(client.listParties({ collection: 'dataProviders', ...WHOLE_LIST }));
  const existing = parties.map(({ name }) => name!);
  const unknown = names.filter((name) => !existing.includes(name));
  const problems =
    unknown.length > 0 ? [`There is no ${unknown.join(', ')}. There are: ${listed(existing)}.`] : [];
  return { names: unknown, problems };
}

function find(described: EventGroup[], text: string): EventGroup | undefined {
  return (
    described.find((group) => idOf(group) === text) ??
    described.find((group) => group.eventGroupReferenceId === text)
  );
}

function missingGroups(provider: string, missing: string[], described: EventGroup[]): string {
  const all = described.map((group) => group.eventGroupReferenceId ?? idOf(group));
  return `${provider} has described no event group ${missing.join(', ')} to you. There are: ${listed(all)}.`;
}

const MAX_LISTED = 20;

function listed(names: string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return visible(names.slice(0, MAX_LISTED).join(', ') || 'none') + more;
}

export class UnknownChoice extends Error {
  override name = 'UnknownChoice';
}

function requireNone(problems: string[]): void {
  if (problems.length > 0) throw new UnknownChoice(problems.join('\n  '));
}
