/** Opens and checks a provider's events, population, and ledger before the agent starts. */
import { toPlainJson } from '@measurement-exchange/contract';
import type { Events, Ledger, Population, PopulationSpec } from '@measurement-exchange/sdk/provider';
import { readJson } from '../files/input.ts';
import { note } from '../terminal/output.ts';
import { eventsConfig } from './eventsConfig.ts';
import type { Settings } from './settings.ts';

const PROGRESS_MS = 5000;

/** Opens and checks the population and the events. Disposing of `opened` closes the events. */
export async function openData(
  settings: Settings,
  opened: AsyncDisposableStack,
  { onWarning, signal }: { onWarning: (message: string) => void; signal: AbortSignal },
): Promise<{ events?: Events; population?: Population; served?: Set<string> }> {
  const population = settings.population ? await openPopulationFile(settings.population) : undefined;
  if (settings.events === undefined) return { ...(population && { population }) };
  const { openEvents } = await import('@measurement-exchange/sdk/provider');
  const events = await openEvents({
    ...(await eventsConfig(settings.events, settings.attributes)),
    population,
    onWarning,
  });
  opened.defer(() => events.close());
  const served = new Set<string>();
  try {
    await verifyEvents(events, signal);
    // In development, serve every reference in the events, even without confirmation, because privacy is not at stake.
    const found = settings.as === undefined ? [] : await events.inventory({ signal });
    for (const { reference } of found) served.add(reference);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { events, served, ...(population && { population }) };
}

/**
 * Checks every event file, or the server that has the events. For a large CSV file, this takes about as long as
 * computing one result.
 */
export async function verifyEvents(events: Events, signal?: AbortSignal): Promise<void> {
  let notedAt = Date.now();
  const onProgress = (percent: number) => {
    if (Date.now() - notedAt < PROGRESS_MS) return;
    notedAt = Date.now();
    note(`Checking the events, ${Math.floor(percent)} %`);
  };
  await events.verify({ signal, onProgress });
}

export async function openPopulationFile(path: string): Promise<Population> {
  const { openPopulation } = await import('@measurement-exchange/sdk/provider');
  const spec = toPlainJson(await readJson(path, 'the virtual population in JSON')) as PopulationSpec;
  try {
    return openPopulation(spec);
  } catch (error) {
    throw new Error(
      `${path}: ${(error as Error).message} Correct the file, or "population" in the settings.`,
    );
  }
}

/**
 * Throws unless the ledger belongs to the provider and is consistent. A wrong or damaged ledger could list too little
 * spending, so that the agent would exceed the budget.
 */
export function requireSound(ledger: Ledger, path: string, provider: string): void {
  ledger.requireProvider(provider);
  const faults = ledger.audit();
  if (faults.length === 0) return;
  throw new Error(
    `${path} does not add up, so nothing is answered from it:\n  ${faults.slice(0, 10).join('\n  ')}\n` +
      'Restore the ledger as it was last; an older copy would grant again what was spent since.',
  );
}
