import { describe, expect, it } from 'vitest';
import { enforce, FINDING_CODES, type FindingCode, finding } from './findings.ts';

describe('findings', () => {
  const informing = finding('REACH_NOT_DEDUPLICATED', 'dataProviders', 'No union.');
  const all = (Object.keys(FINDING_CODES) as FindingCode[]).map((code) => finding(code, 'f', 'Wrong.'));

  it('have the remedy of their code, or a more specific one', () => {
    for (const { code, field, message, remedy } of all) {
      expect(remedy).toBe(FINDING_CODES[code as FindingCode].remedy);
      expect([field, message]).toEqual(['f', 'Wrong.']);
    }
    expect(finding('TYPE_URL_UNKNOWN', 'f', 'm', 'Do this.').remedy).toBe('Do this.');
  });

  it('cause no error under advisory checks', () => {
    expect(() => enforce('advisory', all)).not.toThrow();
  });

  it('that only inform cause no error under strict checks', () => {
    expect(() => enforce('strict', [])).not.toThrow();
    expect(() => enforce('strict', [informing])).not.toThrow();
  });

  it('become one error under strict checks, with each code once and each field', () => {
    const findings = [
      informing,
      finding('TYPE_URL_UNKNOWN', 'a', 'A is wrong.'),
      finding('TYPE_URL_UNKNOWN', 'b', 'B is wrong.'),
      finding('SPEC_UNDECODABLE', 'c', 'C is wrong.', 'Mend it.'),
    ];
    const { remedy } = FINDING_CODES.TYPE_URL_UNKNOWN;
    expect(() => enforce('strict', findings)).toThrow(
      expect.objectContaining({
        reason: 'CHECK_FAILED',
        message: `a: A is wrong. ${remedy}`,
        metadata: { codes: 'TYPE_URL_UNKNOWN,SPEC_UNDECODABLE' },
        violations: [
          { field: 'a', description: `TYPE_URL_UNKNOWN: A is wrong. ${remedy}` },
          { field: 'b', description: `TYPE_URL_UNKNOWN: B is wrong. ${remedy}` },
          { field: 'c', description: 'SPEC_UNDECODABLE: C is wrong. Mend it.' },
        ],
      }),
    );
  });

  it.each([
    ['TYPE_ALREADY_REGISTERED', 'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE'],
    ['SCHEMA_CHANGE_BREAKING', 'SCHEMA_CHANGE_BREAKING'],
  ] as const)('of %s cause an error with the reason %s', (code, reason) => {
    expect(() => enforce('strict', [finding(code, 'f', 'Wrong.')])).toThrow(
      expect.objectContaining({ reason }),
    );
  });
});
