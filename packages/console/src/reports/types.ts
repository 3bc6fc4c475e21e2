/** Views of a report and of its plan, as plain JSON for pages and files. */
import type {
  Estimate,
  Fit,
  Group,
  LocalInterval,
  Metric,
  NeedType,
  Period,
  Periods,
  Ratio,
  Report,
} from '@measurement-exchange/reports';

export interface SegmentView {
  name: string;
  dataProviders: string[];
  eventGroups: string[];
  filter?: string;
}

/** A figure of the definition, for one set, period and group. It has no value if an answer is missing. */
export interface FigureView extends Partial<Estimate> {
  metric: Metric;
  of: string;
  period: Period;
  periods: Periods;
  isCumulative: boolean;
  group: Group;
  /** The keys of the needs whose answers are missing. */
  missing: string[];
  /**
   * For each frequency, the number of people reached that often (`people`), and the number of people reached at least
   * that often (`orMore`). Set only for frequency figures.
   */
  frequencies?: { people: Estimate; orMore: Estimate }[];
  /** The average frequency. Set only for a frequency figure whose impressions are also in the report. */
  average?: Ratio;
  /**
   * The number of impressions that exceed a frequency cap, for each cap of 1, 2, 3 and so on. Set only if `average` is
   * set.
   */
  beyond?: Ratio[];
}

/** A number that was measured, or that must still be measured. */
export interface NeedView {
  key: string;
  type: NeedType;
  /** The indexes of the segments whose union is measured. */
  segments: number[];
  period: Period;
  group: Group;
  dataProviders: string[];
  /** The protocol of the duchies, or `direct` if one publisher answers alone. */
  protocol: string;
  measured?: number;
  corrected?: number;
  /**
   * The measured number minus the corrected number (before rounding). The unit is the standard deviation of the
   * measured number.
   */
  pull?: number;
  measurement?: string;
  state?: string;
  reason?: string;
  /** True if the answer comes from an earlier measurement, and so costs nothing. */
  isReused: boolean;
}

/** A measurement of a running report. */
export interface MeasurementView
  extends Pick<NeedView, 'key' | 'type' | 'segments' | 'period' | 'group' | 'dataProviders' | 'measurement'> {
  state: string;
}

export interface ProgressView {
  total: number;
  /** The number of measurements that have succeeded. */
  answered: number;
  measurements: MeasurementView[];
}

/** The people that a segment reached, and that none of the segments in the bit mask `after` reached. */
export interface Added {
  segment: number;
  after: number;
  people: Estimate;
}

export interface ReportView {
  title: string;
  interval: LocalInterval;
  /** The interval of the whole report, as two points in time. */
  period: Period;
  segments: SegmentView[];
  sets: Record<string, string>;
  /** The sets and segments that contain everybody who was reached. */
  everything: string[];
  population?: number;
  state: Report['state'];
  /** The people that at least one segment reached. */
  everyone?: Estimate;
  /** The number of people that each segment reached. Null if the answers do not determine the number. */
  alone: (Estimate | null)[];
  /** The people that two or more segments reached. */
  several?: Estimate;
  overlap: { members: number[]; people: Estimate }[];
  added: Added[];
  figures: FigureView[];
  /** One fit for each set of answers that was corrected separately, with the worst fit first. */
  fits: Fit[];
  needs: NeedView[];
  /** The report's privacy cost at each publisher. */
  charges: ChargeView[];
}

/** The privacy cost of a report at one publisher. */
export interface ChargeView {
  dataProvider: string;
  days: number;
  /** The highest charge to one day, as a share of a usual daily budget. */
  share: number;
}

/** The expected error of the figures that differ only in period or group. */
export interface ExpectedView {
  metric: Metric;
  of: string;
  periods: Periods;
  isCumulative: boolean;
  groups?: string;
  count: number;
  /** Half of the widest expected 95 % interval. Absent if all of these figures are answered already. */
  margin?: number;
  misses: boolean;
}

export interface PlanView {
  interval: LocalInterval;
  segments: SegmentView[];
  sets: Record<string, string>;
  everything: string[];
  figures: number;
  needs: number;
  /** The number of measurements of each protocol. */
  measurements: Record<string, number>;
  reused: number;
  charges: ChargeView[];
  expected: ExpectedView[];
  advice: string[];
}
