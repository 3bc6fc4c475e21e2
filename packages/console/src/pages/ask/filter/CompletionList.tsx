import { Swatch } from '../../../parts/Chart.tsx';
import { ATTRIBUTE_WORDS } from '../../../parts/eventGroupWords.ts';
import { Icon } from '../../../parts/Icon.tsx';
import type { Publisher } from '../../../parts/Publisher.tsx';
import { literalsOf, type OfferedAttribute } from './attributes.ts';
import type { Completion } from './completion.ts';

export function CompletionList({
  id,
  items,
  selected,
  publishers,
  accept,
}: {
  id: string;
  items: readonly Completion[];
  selected: number;
  publishers: readonly Publisher[];
  accept: (completion: Completion) => void;
}) {
  if (items.length === 0) return null;
  return (
    <div className="comp" role="listbox" id={`${id}-list`} aria-label="Continue the filter">
      {items.map((item, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the text area
        <div
          key={item.label}
          role="option"
          id={`${id}-${i}`}
          tabIndex={-1}
          aria-selected={i === selected}
          // Keep the focus in the text area.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => accept(item)}
        >
          <code>{item.label}</code>
          {item.attribute ? (
            <AttributeFacts attribute={item.attribute} publishers={publishers} />
          ) : (
            <span className="soft">{item.meaning}</span>
          )}
        </div>
      ))}
    </div>
  );
}

function AttributeFacts({
  attribute,
  publishers,
}: {
  attribute: OfferedAttribute;
  publishers: readonly Publisher[];
}) {
  const having = publishers.filter(({ name }) => attribute.publishers.includes(name));
  const lacking = publishers.filter(({ name }) => !attribute.publishers.includes(name));
  return (
    <>
      <span className="muted">{ATTRIBUTE_WORDS[attribute.type]}</span>
      {lacking.length > 0 ? (
        <span className="warn">
          <Icon name="warn" /> <bdi>{lacking.map(({ label }) => label).join(', ')}</bdi> would refuse: it does
          not have this attribute
        </span>
      ) : (
        <span>
          <bdi>
            {[attribute.description, literalsOf(attribute).slice(0, 4).join(', ')].filter(Boolean).join(': ')}
          </bdi>
        </span>
      )}
      <span className="row">
        {having.map(({ name, index }) => (
          <Swatch key={name} index={index} />
        ))}
      </span>
    </>
  );
}
