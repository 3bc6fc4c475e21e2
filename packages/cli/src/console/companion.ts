/** The console's methods that need a party's keys or files. They run on the machine that has the keys. */

import type { CompanionMethod, CompanionMethods } from '@measurement-exchange/console/companion';
import type { Static } from '@measurement-exchange/contract/schema';
import { correctInThread } from '@measurement-exchange/reports/node';
import { createConsumer, type MeasurementRequest } from '@measurement-exchange/sdk';
import type { Acting } from '../connection/credentials.ts';
import { about } from './companion/about.ts';
import { create, plan } from './companion/asking.ts';
import { CompanionFailure, failureOf } from './companion/failure.ts';
import { INPUTS, readInput } from './companion/input.ts';
import { agent, budget, type CompanionOptions } from './companion/ledgers.ts';
import { createQuestions, readMetadata } from './companion/questions.ts';
import { CompanionReports } from './companion/reports.ts';
import { createRequisitions } from './companion/requisitions.ts';
import { createResults } from './companion/results.ts';
import { createTitleSearch } from './companion/titles.ts';

export { CompanionFailure } from './companion/failure.ts';
export type { CompanionOptions } from './companion/ledgers.ts';

const DEFAULT_MATCHES = 20;

/**
 * The companion's methods. Each method checks its input, which may be any JSON value, and throws only
 * `CompanionFailure`.
 */
export type Companion = {
  [M in CompanionMethod]: (input: unknown) => Promise<ReturnType<CompanionMethods[M]>>;
};

type Checked = {
  [M in CompanionMethod]: (
    input: Static<(typeof INPUTS)[M]>,
  ) => Promise<ReturnType<CompanionMethods[M]>> | ReturnType<CompanionMethods[M]>;
};

/** Returns the methods of one party. Use the returned object for all of the party's calls: it caches decrypted data. */
export function createCompanionMethods(acting: Acting, options: CompanionOptions = {}): Companion {
  const { name } = acting.credentials;
  const checked: Checked = {
    about: () => about(acting),
    ...consumerMethods(acting, options),
    ...providerMethods(acting, options),
  };
  const methods = Object.entries(checked).map(([method, run]) => {
    const call = async (input: unknown) => {
      try {
        return await run(readInput(INPUTS[method as CompanionMethod], input, name) as never);
      } catch (error) {
        throw failureOf(error);
      }
    };
    return [method, call];
  });
  return Object.fromEntries(methods);
}

type ReportMethod =
  | 'planReport'
  | 'createReport'
  | 'runReport'
  | 'report'
  | 'reportDefinitions'
  | 'exportReport';
type ConsumerMethod =
  | 'questions'
  | 'searchTitles'
  | 'plan'
  | 'create'
  | 'result'
  | 'eventGroupMetadata'
  | ReportMethod;
type ProviderMethod = 'requisition' | 'budget' | 'agent';

function consumerMethods(acting: Acting, options: CompanionOptions): Pick<Checked, ConsumerMethod> {
  const { client, credentials } = acting;
  if (!credentials.name.startsWith('measurementConsumers/')) {
    const refuse = refusal(credentials.name, 'a measurement consumer');
    return {
      ...{ questions: refuse, searchTitles: refuse, plan: refuse },
      ...{ create: refuse, result: refuse, eventGroupMetadata: refuse },
      ...{ planReport: refuse, createReport: refuse, runReport: refuse },
      ...{ report: refuse, reportDefinitions: refuse, exportReport: refuse },
    };
  }
  const consumer = createConsumer({ ...acting, correctReport: correctInThread });
  const asking = { ...acting, consumer };
  const questions = createQuestions(client, consumer);
  const searchTitles = createTitleSearch(client, credentials.name, questions);
  const result = createResults(asking, questions);
  return {
    questions: ({ names }) => questions.read(names),
    searchTitles: ({ text, limit = DEFAULT_MATCHES }) => searchTitles(text, limit),
    plan: ({ request, assumed }) => plan(asking, request as MeasurementRequest, assumed),
    create: ({ request }) => create(asking, request as MeasurementRequest),
    result: ({ name }) => result(name),
    eventGroupMetadata: ({ names }) => readMetadata(consumer, names),
    ...reportMethods(new CompanionReports(consumer, options.signal)),
  };
}

function reportMethods(reports: CompanionReports): Pick<Checked, ReportMethod> {
  return {
    planReport: ({ definition }) => reports.plan(definition),
    createReport: ({ definition }) => reports.create(definition),
    runReport: ({ name }) => reports.run(name),
    report: ({ name }) => reports.open(name),
    reportDefinitions: ({ names }) => reports.definitions(names),
    exportReport: ({ name, format }) => reports.export(name, format),
  };
}

function providerMethods(acting: Acting, options: CompanionOptions): Pick<Checked, ProviderMethod> {
  const { name } = acting.credentials;
  if (!name.startsWith('dataProviders/')) {
    const refuse = refusal(name, 'a data provider');
    return { requisition: refuse, budget: refuse, agent: refuse };
  }
  const requisition = createRequisitions(acting);
  return {
    requisition: ({ name }) => requisition(name),
    budget: () => budget(acting, options),
    agent: () => agent(acting, options),
  };
}

function refusal(name: string, role: string): () => never {
  return () => {
    throw new CompanionFailure(403, 'ROLE_MISSING', `${name} is not ${role}.`);
  };
}
