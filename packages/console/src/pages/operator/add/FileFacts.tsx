import { moment } from '../../../format.ts';
import { ROLE_WORDS, roleOf } from '../../../session/roles.ts';
import type { CheckedFile } from './checkFile.ts';

/**
 * Shows the contents of a party file, but not the fingerprint of the file's certificate. The operator must get this
 * fingerprint from the party.
 */
export function FileFacts({ checked, change }: { checked: CheckedFile; change: () => void }) {
  const { file, certificate } = checked;
  return (
    <div className="stack tight">
      <div className="row between">
        <h2>Party file</h2>
        <button type="button" className="btn sm" onClick={change}>
          Another file
        </button>
      </div>
      <dl className="kv">
        <dt>Party</dt>
        <dd>
          <b>
            <bdi>{file.displayName || file.name}</bdi>
          </b>
          <span className="sub mono">{file.name}</span>
        </dd>
        <dt>Role</dt>
        <dd>{ROLE_WORDS[roleOf(file.name)]}</dd>
        <dt>Certificate</dt>
        <dd>
          <bdi>{certificate.subject}</bdi>, ends {moment(certificate.notAfter)}
        </dd>
        <dt>Issued by</dt>
        <dd>
          <bdi>{certificate.issuer}</bdi>
          {file.rootPem === undefined && <span className="sub">The file has no root</span>}
        </dd>
      </dl>
    </div>
  );
}
