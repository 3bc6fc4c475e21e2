/**
 * Settles reports: updates their stored states, and announces the changes. When a measurement ends, the reports that
 * contain it are not updated in the same transaction. Instead, this job finds the reports that waited for the
 * measurement.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '../database/log.ts';
import { lockReport, saveReport, saveWaitingFor, unsettledReports } from '../database/reports.ts';
import { reportName, settleReport } from '../domain/report.ts';
import type { Exchange } from '../operations/context.ts';

const BATCH = 50;
/**
 * The pause after each search for reports to settle. Each search covers only consumers with changes since the previous
 * search began.
 */
const SEARCH_EVERY_MS = 50;
const AUTHOR = { operation: 'settleReport', principal: 'exchange', requestId: 'settleReport' };

export class ReportSettler {
  private readonly exchange: Pick<Exchange, 'db' | 'clock'>;
  private readonly changedParties = new Set<string>();
  private searching: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(exchange: Pick<Exchange, 'db' | 'clock'>) {
    this.exchange = exchange;
  }

  /** Settles reports of all consumers. Returns true if there may be more to do. */
  async run(): Promise<boolean> {
    return this.settle(undefined);
  }

  /** Settles the reports of these parties soon, without waiting for the next call of `run`. */
  changed(parties: Iterable<string>): void {
    for (const party of parties) {
      if (party.startsWith('measurementConsumers/')) this.changedParties.add(party);
    }
    if (this.changedParties.size > 0) this.searching ??= this.search();
  }

  private async search(): Promise<void> {
    while (this.changedParties.size > 0 && !this.stopping.signal.aborted) {
      const parties = [...this.changedParties];
      this.changedParties.clear();
      // If this fails, a later call of `run` settles the same reports. A failure of `run` is logged.
      await this.settle(parties).catch(() => {});
      await sleep(SEARCH_EVERY_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
    this.searching = undefined;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.searching;
  }

  private async settle(consumers: string[] | undefined): Promise<boolean> {
    const found = await unsettledReports(this.exchange.db, BATCH, consumers);
    for (const { consumer, id } of found) await this.settleOne(consumer, id);
    return found.length === BATCH;
  }

  private settleOne(consumer: string, id: string): Promise<void> {
    const { db, clock } = this.exchange;
    return db.tx('settleReport', async (tx) => {
      const before = await lockReport(tx, consumer, id);
      if (before === undefined) return;
      const after = settleReport(before);
      if (after.waitingFor === before.report.waitingFor) return tx.rollback();
      if (after.version === before.report.version) return saveWaitingFor(tx, after);
      const time = clock();
      saveReport(tx, after, time);
      audit(tx, { ...AUTHOR, name: reportName(after), version: after.version, time });
    });
  }
}
