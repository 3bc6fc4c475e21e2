/** Finds problems in a well-formed descriptor set. findings.ts explains what findings are. */
import type { Finding } from '@measurement-exchange/contract';
import { quote } from '../protobuf/descriptor/model.ts';
import type { SetDiff } from '../protobuf/schemaDiff/schemaDiff.ts';
import { finding } from './findings.ts';

const FIELD = 'descriptorSet';

/** The maximum number of findings of each kind. A descriptor set may have ten thousand message types. */
const MAX_FINDINGS = 100;

function atMost(findings: Finding[], count = findings.length): Finding[] {
  if (count <= MAX_FINDINGS) return findings;
  const [last, more] = [findings[MAX_FINDINGS - 1]!, count - MAX_FINDINGS];
  return [...findings.slice(0, MAX_FINDINGS - 1), { ...last, message: `${last.message} And ${more} more.` }];
}

export function packageFindings(messagesWithoutPackage: string[]): Finding[] {
  return atMost(
    messagesWithoutPackage.map((message) =>
      finding('METADATA_WITHOUT_PACKAGE', FIELD, `The message ${message} has no package.`),
    ),
  );
}

interface RegisteredType {
  type: string;
  /**
   * Another descriptor of the same provider that defines the type. Undefined if only other providers define the type.
   */
  own: string | undefined;
}

/**
 * Reports types that other descriptors also define. The findings do not reveal the names of other providers'
 * descriptors.
 */
export function typeFindings(registered: RegisteredType[]): { own: Finding[]; others: Finding[] } {
  const code = 'TYPE_ALREADY_REGISTERED';
  const toFinding = ({ type, own }: RegisteredType) => {
    const holder = own === undefined ? 'a descriptor of another provider' : own;
    return finding(code, FIELD, `The type ${quote(type)} is defined by ${holder} too.`);
  };
  return {
    own: atMost(registered.filter(({ own }) => own !== undefined).map(toFinding)),
    others: atMost(registered.filter(({ own }) => own === undefined).map(toFinding)),
  };
}

export function schemaChangeFindings({ changes, breaking }: SetDiff, eventGroups: number): Finding[] {
  const groups = eventGroups === 1 ? '1 event group' : `${eventGroups} event groups`;
  const remedy =
    eventGroups === 0
      ? 'Create a new descriptor instead; no event group refers to this one.'
      : `Create a new descriptor instead, then migrate ${groups} to it.`;
  const findings = changes
    .filter((change) => change.breaking)
    .map(({ kind, message }) => finding('SCHEMA_CHANGE_BREAKING', FIELD, `${kind}: ${message}`, remedy));
  return atMost(findings, breaking);
}
