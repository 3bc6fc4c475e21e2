/** Plans a measurement: asks the exchange for a preview, and computes the expected uncertainty and the cost. */
import type { EventGroup, Finding, Measurement, PlainSpec, Protocol } from '@measurement-exchange/contract';
import { PROTOCOLS } from '@measurement-exchange/contract';
import {
  DEVELOPMENT_BUDGET,
  daysOf,
  fromUnits,
  MEASURES,
  measurementCost,
  type PrivacyAmount,
  type Units,
} from '@measurement-exchange/mpc/charges';
import { createMeasurement, prepareMeasurement, send } from './create.ts';
import type { Dependencies } from './deps.ts';
import { type ExpectedFigure, expectedFigures } from './expected.ts';
import { planWarnings, unrecorded } from './planWarnings.ts';
import { acceptedProtocol, type DuchyProtocol, duchyProtocolOf, ProtocolError } from './protocol.ts';
import type { MeasurementRequest, Selection } from './request.ts';

/** Options for `plan`. */
export interface PlanOptions {
  signal?: AbortSignal;
  /** Event groups that the caller has already read. `plan` reads every other event group that has a filter. */
  eventGroups?: readonly EventGroup[];
  /**
   * The value to assume for each figure whose uncertainty depends on its value. Default: about half of the default
   * population, or 1,000,000 if the exchange has no default population.
   */
  assumed?: number;
}

/** The cost of a measurement at one data provider. */
export interface PlannedCharge {
  name: string;
  /** The number of UTC days that are charged. A day in the intervals of several event groups counts once. */
  days: number;
  /**
   * The charge to each of the provider's budgets. A reference is the value that selects an event group's events in the
   * provider's data (see `References`). Each reference has one budget per UTC day. Rho is for Gaussian noise, epsilon
   * for other noise. Absent if no noise can meet the privacy parameters. Empty for a population measurement, which
   * costs nothing, and if the plan has a `rejection`.
   */
  charge?: Partial<PrivacyAmount>;
  /**
   * The charge as a share of the usual daily budget (epsilon 10, delta 1e-6, rho 1). If the share is above 1, the
   * charge exceeds that budget. Only the provider knows its real budget. Absent if `charge` is absent.
   */
  ofUsualBudget?: number;
}

/** A preview of the measurement that would be created now. */
export interface MeasurementPlan {
  protocol: Protocol;
  /** The duchies that would compute the measurement, the aggregator first. */
  duchies: readonly string[];
  /** The reason that this consumer would not accept the result. If it is present, do not create the measurement. */
  rejection?: { code: string; message: string /** The rejected duchies. */; duchies: string[] };
  /** Problems that the exchange found. Some exchanges are configured to reject measurements with problems. */
  findings: readonly Finding[];
  /**
   * The expected uncertainty of each figure. Without duchies, each data provider computes its own figures. Empty if the
   * plan has a `rejection`.
   */
  figures: readonly ExpectedFigure[];
  dataProviders: readonly PlannedCharge[];
  /** Warnings about parameters and intervals that data providers usually refuse, or that make a figure useless. */
  warnings: readonly string[];
  /** Creates exactly this measurement. */
  create(options?: { signal?: AbortSignal }): Promise<Measurement>;
}

const ASSUMED_WITHOUT_POPULATION = 1_000_000;

export async function planMeasurement(
  deps: Dependencies,
  request: MeasurementRequest,
  { eventGroups, assumed: given }: PlanOptions,
): Promise<MeasurementPlan> {
  const prepared = await prepareMeasurement(deps, request, eventGroups);
  const { spec, dataProviders } = prepared.read;
  const [validated, assumed] = await Promise.all([send(deps, prepared, true), given ?? assumedValue(deps)]);
  const { protocolConfig = {}, findings = [] } = validated;
  const computed = duchyProtocolOf(protocolConfig);
  const duchies = computed ? [computed.aggregator, ...computed.workers] : [];
  const rejection = rejectionOf(deps, validated, spec, duchies);
  const figures = rejection ? [] : expectedFigures(spec, computed, assumed);
  const charge = rejection ? {} : chargeOf(spec, computed, dataProviders.length);
  return {
    protocol: PROTOCOLS.find((name) => protocolConfig[name] !== undefined) ?? 'direct',
    duchies,
    ...(rejection && { rejection }),
    findings,
    figures,
    dataProviders: dataProviders.map(({ name, selection }) => ({
      name,
      days: chargedDays(selection),
      ...(charge && { charge, ofUsualBudget: usualShare(charge) }),
    })),
    warnings: [
      ...planWarnings(spec, { figures, charge, assumed }),
      ...unrecorded(dataProviders, eventGroups),
    ],
    create: ({ signal } = {}) => createMeasurement({ ...deps, signal }, prepared),
  };
}

async function assumedValue({ client, signal }: Dependencies): Promise<number> {
  for await (const { default: isDefault, size } of client.listPopulations({ signal })) {
    if (isDefault && size !== undefined) return Math.max(1, Number((size / 2).toPrecision(1)));
  }
  return ASSUMED_WITHOUT_POPULATION;
}

function rejectionOf(
  deps: Dependencies,
  validated: Measurement,
  spec: PlainSpec,
  duchies: string[],
): MeasurementPlan['rejection'] {
  try {
    acceptedProtocol(deps, validated, spec);
    return undefined;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const unaccepted = duchies.filter((duchy) => !deps.duchies?.includes(duchy));
    return { code: error.code, message: error.message, duchies: unaccepted };
  }
}

/**
 * Returns the nonzero amounts to charge, or undefined if no noise can meet the privacy parameters. If data providers
 * compute the figures themselves, assumes the default noise mechanism.
 */
function chargeOf(
  spec: PlainSpec,
  computed: DuchyProtocol | undefined,
  dataProviders: number,
): Partial<PrivacyAmount> | undefined {
  let units: Units;
  try {
    units = measurementCost(spec, computed, dataProviders);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return Object.fromEntries(Object.entries(fromUnits(units)).filter(([, amount]) => amount > 0));
}

function usualShare(charge: Partial<PrivacyAmount>): number {
  return Math.max(...MEASURES.map((measure) => (charge[measure] ?? 0) / DEVELOPMENT_BUDGET[measure]));
}

function chargedDays(selection: Selection): number {
  if ('population' in selection) return 0;
  // Remove duplicates first, because most event groups have the same interval.
  const intervals = new Map(
    selection.eventGroups.map(({ interval: { start, end } }) => [start + end, { start, end }]),
  );
  const days = [...intervals.values()].map(({ start, end }) =>
    daysOf({ start: new Date(start), end: new Date(end) }),
  );
  return new Set(days.flat()).size;
}
