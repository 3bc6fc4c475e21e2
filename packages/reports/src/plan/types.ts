/** The plan of a report. */
import type { PrivacyParams } from '@measurement-exchange/contract';
import type { ComputedBy } from '@measurement-exchange/mpc/charges';
import type { Period } from '../definition/calendar.ts';
import type { FigureRequest, ReportDefinition } from '../definition/definition.ts';
import type { Group, Need } from '../needs/need.ts';

/** A place to which needs are charged: a data provider, one of its event group references, and a UTC day. */
export interface Place {
  dataProvider: string;
  reference: string;
  day: string;
  /** Identifies the place. It combines the data provider, the reference, and the day. */
  id: string;
}

/** A need whose noise has not been decided yet. */
export interface UnpricedNeed {
  key: string;
  need: Need;
  /** The segments in the union, as a bit mask. */
  union: number;
  dataProviders: string[];
  /** The places to which the need is charged. */
  places: readonly Place[];
  /** The people who are charged at these places, as text (see `sliceText`). */
  slice: string;
  /** How duchies compute the need. Absent if each data provider computes its own answer. */
  computed?: ComputedBy;
  /** True if the consumer already has an answer. The need then costs nothing. */
  answered: boolean;
}

export interface PlannedNeed extends UnpricedNeed {
  /**
   * The privacy parameters to request. For reach and frequency, the reach and the frequencies each get these
   * parameters.
   */
  params: PrivacyParams;
}

/** A figure, which is a weighted sum of measured values. */
export interface PlannedFigure {
  request: FigureRequest;
  of: string;
  period: Period;
  group: Group;
  terms: { key: string; weight: number }[];
}

export interface Plan {
  definition: ReportDefinition;
  /** The names of the segments. The index of a segment is also its bit in bit masks. */
  segments: string[];
  /** The combinations of segments to which a person can belong, as bit masks. */
  atoms: number[];
  population?: number;
  needs: PlannedNeed[];
  figures: PlannedFigure[];
  /**
   * The keys of the needs that each measurement answers. Only event counts of different providers share a measurement.
   */
  measurements: string[][];
}
