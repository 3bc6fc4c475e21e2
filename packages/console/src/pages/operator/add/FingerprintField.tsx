import { useId } from 'react';
import { Icon } from '../../../parts/Icon.tsx';
import { type Comparison, compareFingerprints } from './fingerprint.ts';

/**
 * A field for a certificate's fingerprint, which the certificate's owner sent over another channel. The field is never
 * filled in from the file, because a forged certificate always matches its own fingerprint.
 */
export function FingerprintField({
  of,
  computed,
  value,
  onChange,
}: {
  /** The text that stands for the certificate in the field's label, such as `its certificate`. */
  of: string;
  computed: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const comparison = compareFingerprints(value, computed);
  return (
    <div className="field">
      <label htmlFor={id}>SHA-256 fingerprint of {of}</label>
      <input
        className="in mono"
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        placeholder="Type it from the phone call"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        aria-describedby={`${id}-hint ${id}-state`}
        aria-invalid={comparison.state === 'differs'}
      />
      <span className="hint" id={`${id}-hint`}>
        Type what the party tells you over another channel than the file came by. It is never filled in from
        the file: a swapped file would match itself.
      </span>
      <div id={`${id}-state`} role="status">
        {value !== '' && <State comparison={comparison} computed={computed} />}
      </div>
    </div>
  );
}

function State({ comparison, computed }: { comparison: Comparison; computed: string }) {
  if (comparison.state === 'incomplete') {
    const { digits, isHex } = comparison;
    return (
      <span className="hint">
        {isHex ? `${digits} of 64 digits` : 'Only the digits 0–9 and the letters A–F'}
      </span>
    );
  }
  if (comparison.state === 'same') {
    return (
      <span className="ok sm">
        <Icon name="check" /> The same as the certificate in the file
      </span>
    );
  }
  const { pairs } = comparison;
  return (
    <div className="note bad">
      <Icon name="x" />
      <div>
        <b>The certificate in the file has another fingerprint. Nothing was registered.</b>
        <p>
          {pairs <= 2
            ? `Only ${pairs} of 32 pairs ${pairs === 1 ? 'differs' : 'differ'}: likely a slip. Compare them again with the party.`
            : `${pairs} of 32 pairs differ: this is another certificate. Somebody may have replaced the file on its way. Ask the party for both again, each over another channel.`}
        </p>
        <p className="mono xs">In the file: {computed}</p>
      </div>
    </div>
  );
}
