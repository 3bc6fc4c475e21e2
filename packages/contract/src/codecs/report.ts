import * as s from '../json/schema.ts';
import { REPORT_STATES } from '../values/states.ts';
import { Finding } from './common.ts';

export const MAX_REPORT_DEFINITION_BYTES = 64 * 1024;
export const MAX_REPORT_ANSWER_BYTES = 1024 * 1024;
export const MAX_REPORT_MEASUREMENTS = 5_000;

const sealed = (maxBytes: number, description: string) =>
  s.object({ ciphertext: s.bytes({ min: 1, max: maxBytes }), typeUrl: s.text(512, 1) }, description);

export const SealedReportDefinition = sealed(
  MAX_REPORT_DEFINITION_BYTES,
  'The definition of a report, encrypted by the measurement consumer for its own key.',
);
export const SealedReportAnswer = sealed(
  MAX_REPORT_ANSWER_BYTES,
  'The figures of a report, encrypted by the measurement consumer for its own key.',
);

export const ReportMeasurement = s.object(
  { key: s.text(64, 64), measurement: s.nameOf('measurement') },
  'A measurement of a report. `key` says which figure it is for: 64 lower-case hexadecimal digits that only the measurement consumer can compute.',
);
export type ReportMeasurement = s.Static<typeof ReportMeasurement>;

const definition = {
  definition: s.optional(
    s.text(MAX_REPORT_DEFINITION_BYTES, 1),
    'The definition as JSON text, readable for the exchange. A report has either this or `sealedDefinition`.',
  ),
  sealedDefinition: s.optional(SealedReportDefinition),
};
const changeable = {
  title: s.optional(
    s.text(256),
    'Readable for the exchange: leave it out if the title says what is measured.',
  ),
  sealedAnswer: s.optional(SealedReportAnswer),
  measurements: s.optional(s.array(ReportMeasurement, { maxItems: MAX_REPORT_MEASUREMENTS })),
};

export const ReportInput = s.object({ ...definition, definitionHash: s.sha256(), ...changeable });
export type ReportInput = s.Static<typeof ReportInput>;

/**
 * An update replaces `title` and `sealedAnswer` if the request contains them, and appends `measurements`. The fields of
 * the definition never change, so they must equal the stored fields.
 */
export const ReportUpdate = s.object({
  etag: s.text(100, 1),
  ...definition,
  definitionHash: s.optional(s.sha256()),
  ...changeable,
});
export type ReportUpdate = s.Static<typeof ReportUpdate>;

export const Report = s.object({
  name: s.optional(s.nameOf('report')),
  ...definition,
  definitionHash: s.sha256(),
  ...changeable,
  state: s.enumOf(REPORT_STATES),
  etag: s.optional(
    s.text(100),
    'Changes with every update. It does not change when a measurement ends, although the state may.',
  ),
  createTime: s.optional(s.timestamp()),
  updateTime: s.optional(s.timestamp()),
  findings: s.optional(s.array(Finding)),
});
export type Report = s.Static<typeof Report>;
