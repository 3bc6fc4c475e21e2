/** The column beside the sign-in form. It contains a short explanation of the product, and a chart as an example. */
export function Pitch() {
  return (
    <>
      <div className="stack wide">
        <h1>Count people together. Show each other nothing.</h1>
        <p className="soft">
          Publishers and advertisers measure reach, frequency, impressions and watch time across publishers.
          Nobody hands over a list, and every figure says how far it may be off.
        </p>
        <div className="stack tight detail">
          <span className="lab">An example: one campaign, three publishers</span>
          <Example />
        </div>
      </div>
      <p className="xs muted detail">
        Counted by three independent duchies. No single one can read the data.
      </p>
    </>
  );
}

function Example() {
  return (
    <svg
      className="plot"
      height="140"
      role="img"
      aria-label="Adding up claims 582,656; counting each person once gives 420,731, 95 percent 420,602 to 420,860"
    >
      <text x="0" y="12">
        Added up
      </text>
      <rect className="soft0" x="0" y="18" width="97%" height="12" rx="2" />
      <line className="stripes" x1="0" x2="97%" y1="24" y2="24" strokeWidth="12" />
      <text className="k" x="97%" y="12" textAnchor="end">
        582,656
      </text>
      <text x="0" y="54">
        Each person once
      </text>
      <rect className="f1" x="0" y="60" width="70.1%" height="12" rx="2" />
      <text className="k" x="70.1%" y="54" textAnchor="end">
        420,731
      </text>
      <text x="0" y="94">
        Its 95 % interval, in a close-up
      </text>
      <svg x="0" y="102" width="70.1%" height="34" overflow="visible" aria-hidden="true">
        <line className="ax0" x1="0" x2="100%" y1="10" y2="10" />
        <line className="whb" x1="27%" x2="77%" y1="10" y2="10" />
        <line className="wh" x1="27%" x2="77%" y1="10" y2="10" />
        <line className="wh" x1="27%" x2="27%" y1="4" y2="16" />
        <line className="wh" x1="77%" x2="77%" y1="4" y2="16" />
        <circle className="pt f0" cx="52%" cy="10" r="5" />
        <text x="27%" y="31" textAnchor="middle">
          420,602
        </text>
        <text x="77%" y="31" textAnchor="middle">
          420,860
        </text>
      </svg>
    </svg>
  );
}
