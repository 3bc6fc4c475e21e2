/** Lists bad inputs: each row has the command and the advice that its message must contain. */

export interface BadInput {
  args: string[];
  /** The advice that the message must contain. */
  says: RegExp;
  env?: Record<string, string>;
  /** The exit code that the command must have. The default is 1. */
  code?: number;
}

const AS = ['--as', 'acme'];
const BOUND = ['--issuer', 'https://login.example.com', '--subject', 's', '--fingerprint', 'AB'];
const JANUARY = ['--from', '2026-01-01', '--to', '2026-02-01'];
const STREAMLY = ['--provider', 'streamly'];
const reach = (...more: string[]) => ['measure', 'reach', ...AS, ...STREAMLY, ...JANUARY, ...more];

const FLAGS: BadInput[] = [
  { args: ['measur'], says: /unknown command 'measur'[\s\S]*Did you mean measure\b/ },
  { args: ['measurements', 'lst'], says: /unknown command 'lst'[\s\S]*Did you mean list\?/ },
  { args: ['measurements', 'list', '--jsn'], says: /unknown option '--jsn'[\s\S]*Did you mean --json\?/ },
  { args: ['measurements', 'show', ...AS], says: /missing required argument 'measurement'/ },
  { args: ['measurements', 'list', 'x', 'y', ...AS], says: /too many arguments/ },
  { args: ['measurements', 'list', ...AS, '--limit', '0'], says: /a whole number above 0, or `all`/ },
  { args: ['measurements', 'list', ...AS, '--limit', 'many'], says: /a whole number above 0, or `all`/ },
  { args: ['measurements', 'list', ...AS, '--state', 'DONE'], says: /Allowed choices are .*SUCCEEDED/ },
  {
    args: ['measurements', 'list', ...AS, '--created-after', 'yesterday'],
    says: /how long ago, such as 30m/,
  },
  { args: ['watch', ...AS, '--kind', 'ALL'], says: /Allowed choices are MEASUREMENT/ },
  { args: ['token', 'acme', '--hours', 'x'], says: /a number of hours/ },
  { args: ['serve', '--dev', '--port', 'http'], says: /a port number such as 8080/ },
  { args: ['completion', 'tcsh'], says: /Allowed choices are bash, zsh, fish/ },
  { args: ['webhooks', 'update', 'x', ...AS], says: /Say what to change: --to, --kind or --description/ },
  {
    args: ['webhooks', 'create', ...AS, 'ftp://hooks.example.com/'],
    says: /url: must be an https URL such as/,
  },
  {
    args: ['webhooks', 'listen', ...AS, '--forward-to', 'here'],
    says: /a URL such as http:\/\/localhost:3000/,
  },
  {
    args: ['webhooks', 'listen', ...AS, '--forward-to', 'http://localhost', '--secret', 'x'],
    says: /whsec_…/,
  },
  { args: ['webhooks', 'redeliver', 'x', ...AS, '--from', '5x'], says: /how long ago, such as 30m/ },
  { args: ['requisitions', 'refuse', 'x', '--as', 'streamly'], says: /--justification <why>' not specified/ },
  { args: ['requisitions', 'list', ...AS], says: /mex requisitions list <measurement>/ },
  {
    args: ['admin', 'parties', 'update', 'dataProviders/streamly'],
    says: /give --display-name, --public-key/,
  },
  {
    args: ['admin', 'parties', 'update', 'streamly', '--available-from', 'now'],
    says: /how long ago, such as 30m/,
  },
  {
    args: ['admin', 'parties', 'update', 'streamly', '--endpoint', 'https://streamly.example'],
    says: /--endpoint is for duchies: dataProviders\/streamly has none/,
  },
];

const QUESTIONS: BadInput[] = [
  { args: ['measure', ...AS], says: /What is to be measured\? mex measure <type>: reach, / },
  { args: ['measure', 'reech', ...AS], says: /Allowed choices are reach, / },
  { args: ['measure', 'reach', ...AS], says: /--provider is missing: whom to ask, such as/ },
  { args: ['measure', 'reach', ...AS, ...STREAMLY], says: /--from and --to are missing/ },
  { args: ['measure', 'reach', ...AS, '--provider', 'a b'], says: /must look like dataProviders\/x/ },
  { args: reach('--provider', 'dataProviders/streamly'), says: /dataProviders\/streamly is given twice/ },
  { args: reach('--from', '2026-13-01'), says: /a day such as 2026-01-31/ },
  { args: reach('--to', '2025-01-01'), says: /--from and --to: start must be before end/ },
  { args: reach('--epsilon', 'little'), says: /must be a number/ },
  { args: reach('--epsilon', '0'), says: /--epsilon: must be a finite number above 0/ },
  { args: reach('--delta', '2'), says: /--delta: must be at least 0 and below 1/ },
  { args: reach('--sampling', '0.5'), says: /must be start,width, such as 0,0\.5/ },
  { args: reach('--sampling', '0,2'), says: /--sampling: / },
  { args: reach('--filter', 'age > > 1'), says: /\n {4}age > > 1\n {8}\^\n[\s\S]*Nothing was created/ },
  { args: reach('--expect', '0'), says: /a whole number above 0/ },
  { args: reach('--max-frequency', '0'), says: /a whole number above 0/ },
  { args: reach('--timeout', 'soon'), says: /a time such as 90s, 5m or 1h/ },
  { args: reach('--protocol', 'magic'), says: /Allowed choices are direct, / },
  { args: ['measure', 'impressions', ...reach().slice(2)], says: /--max-frequency is missing/ },
  { args: ['measure', 'duration', ...reach().slice(2)], says: /--max-watch-duration is missing/ },
  { args: ['measure', 'population', ...AS, '--provider', 'streamly:spring'], says: /leave out :spring/ },
  {
    args: ['measure', 'reach', ...AS, '--provider', 'nosuch', ...JANUARY],
    says: /There is no dataProviders\/nosuch\. There are: dataProviders/,
  },
  {
    args: ['measure', 'reach', ...AS, '--provider', 'streamly:winter', ...JANUARY],
    says: /There are: spring/,
  },
  {
    args: ['measure', ...AS, '--spec', 'FOLDER/none.json'],
    says: /cannot be read \(ENOENT\): give a request/,
  },
  { args: ['measure', ...AS, '--spec', 'FOLDER/text'], says: /is not JSON .*: give a request/ },
  { args: ['measure', ...AS, '--spec', 'FOLDER/list.json'], says: /is not a JSON object: give a request/ },
  { args: ['measure', ...AS, '--spec', 'FOLDER/half.json'], says: /dataProviders/ },
  {
    args: reach('--spec', 'FOLDER/half.json'),
    says: /leave out the type and --provider, or leave out --spec/,
  },
];

/**
 * Filters that the command rejects before it creates a measurement. Most of the messages name the column of the error.
 */
const FILTERS: BadInput[] = [
  { args: reach('--filter', 'age >'), says: /age >\n +\^\n {2}line 1, column 5: .*not valid CEL/ },
  { args: reach('--filter', 'age > 30 and true'), says: /column 10: .*unexpected a\b.*Nothing was created/ },
  { args: reach('--filter', '(age > 30'), says: /column 10: .*unexpected end of input/ },
  { args: reach('--filter', ' '), says: /It is empty: leave out --filter to measure everybody/ },
  { args: reach('--filter', 'age = 30'), says: /age = 30\n {8}\^\n {2}line 1, column 5: / },
  { args: reach('--filter', 'age > “30”'), says: /\^\n {2}line 1, column 5: .*not valid CEL/ },
  { args: reach('--filter', '('.repeat(5000)), says: /nests too deep\. Nothing was created/ },
  {
    args: ['measure', '--as', 'acme', '--spec', 'x.json', '--epsilon', '1'],
    says: /leave out --epsilon, or put it into the file/,
  },
  { args: reach('--filter', 'age > "x'), says: /\^\n {2}line 1, column \d+: / },
];

const NAMES: BadInput[] = [
  { args: ['measurements', 'show', 'nosuch', ...AS], says: /\(MEASUREMENT_NOT_FOUND\)/ },
  { args: ['measurements', 'cancel', 'no such', ...AS], says: /measurement/ },
  { args: ['why', 'nosuch', ...AS], says: /\(MEASUREMENT_NOT_FOUND\)/ },
  {
    args: ['measurements', 'list', '--as', 'streamly'],
    says: /for a measurement consumer.*--as measurementConsumers/,
  },
  {
    args: ['measurements', 'list', '--as', 'nosuch'],
    says: /no demo party nosuch\. There are: measurementConsumers/,
  },
  {
    args: ['measure', 'reach', '--as', 'streamly', ...reach().slice(4)],
    says: /is not a measurement consumer/,
  },
  {
    args: ['measure', 'reach', ...reach().slice(4)],
    says: /--identity with a folder|--as with a demo party/,
  },
  { args: ['admin', 'parties', 'get', 'nosuch'], says: /no party nosuch .*mex admin parties list/ },
  {
    args: ['admin', 'parties', 'get', 'dataprovider/x'],
    says: /write measurementConsumers\/<id>, dataProviders\/<id>/,
  },
  {
    args: ['admin', 'parties', 'create', 'nosuch'],
    says: /write measurementConsumers\/<id>, dataProviders\/<id>/,
  },
  {
    args: ['admin', 'principals', 'bind', 'nosuch', '--issuer', 'https://x.example', '--subject', 's'],
    says: /no party/,
  },
  { args: ['admin', 'principals', 'unbind', 'acme'], says: /it looks like principals\/<id>/ },
  {
    args: ['certificates', 'revoke', 'a/b', ...AS],
    says: /it looks like dataProviders\/<id>\/certificates\/<id>/,
  },
  { args: ['token', 'nosuch'], says: /no demo party nosuch\. There are: / },
  {
    args: ['identity', 'create', 'lakeside', '--out', 'FOLDER/new'],
    says: /write measurementConsumers\/<id>, data/,
  },
  { args: ['webhooks', 'resend', 'x', 'msg_x', ...AS], says: /\(WEBHOOK_NOT_FOUND\)/ },
  {
    args: ['event-groups', 'create', '--as', 'streamly', '--consumer', 'nosuch', '--reference', 'x'],
    says: /nosuch/,
  },
  {
    args: ['event-groups', 'create', '--as', 'streamly', '--consumer', 'acme', '--reference', 'spring'],
    says: /has the reference "spring" for .*acme already\. Nothing was created\.\n {2}To change it: .*mex event-groups update /,
  },
  {
    args: ['--profile', 'nobody', 'provider', 'status', '--as', 'streamly'],
    // The --profile option sets MEX_PROFILE in the test process. Listing the variable here makes the test restore it
    // afterwards.
    env: { MEX_PROFILE: '' },
    says: /no profile nobody\. Make it: mex profile set nobody/,
  },
];

const ADDRESSES: BadInput[] = [
  { args: ['whoami', '--url', 'nowhere', '--token', 't'], says: /--url or MEX_URL\) must be the http/ },
  {
    args: ['whoami', '--url', 'ftp://exchange.example', '--token', 't'],
    says: /--url or MEX_URL\) must be the http/,
  },
  { args: ['whoami', '--url', ''], says: /Say where the exchange is: .*--url, or MEX_URL/ },
  { args: ['whoami'], env: { MEX_URL: '' }, says: /Say where the exchange is: .*--url, or MEX_URL/ },
  {
    args: ['whoami', '--url', 'http://me:secret@127.0.0.1:1', '--token', 't'],
    says: /must be the http or https address of an exchange, and is http:\/\/…@127/,
  },
  { args: ['whoami', '--url', 'AWAY', '--token', 't'], says: /ECONNREFUSED.*Does the exchange run there\?/ },
  { args: ['whoami', '--url', 'PLAIN_AS_HTTPS', '--token', 't'], says: /with TLS .* use http:\/\/127/ },
  { args: ['whoami', '--url', 'TLS_AS_HTTP', '--token', 't'], says: /If it serves https, use https:\/\/127/ },
  {
    args: ['whoami', '--url', 'PAGE', '--token', 't'],
    says: /not one of an exchange[\s\S]*--url or MEX_URL/,
  },
  { args: ['whoami', '--url', 'AWAY'], says: /Say who you are at .*MEX_TOKEN/ },
  { args: ['whoami', '--url', 'AWAY', ...AS], says: /--as is for the development exchange here.* --token/ },
  {
    args: ['whoami'],
    env: { MEX_DATA_DIR: 'FOLDER' },
    says: /Say where the exchange is: .*--url, or MEX_URL/,
  },
  { args: ['env'], env: { MEX_DATA_DIR: 'FOLDER' }, says: /Start the exchange first .*MEX_DATA_DIR/ },
];

const TOKENS: BadInput[] = [
  {
    args: ['whoami', '--token', 'EXPIRED'],
    says: /\(TOKEN_INVALID\)\n {2}The token expired at 20\S+\.\n {2}Get a fresh token/,
  },
  {
    args: ['whoami'],
    env: { MEX_PROFILE: 'nosuch' },
    says: /no profile nosuch.*mex profile set nosuch --url/,
  },
  { args: ['login', '--issuer', 'nowhere', '--client-id', 'x'], says: /issuer|--/ },
  {
    args: ['login', '--issuer', 'http://127.0.0.1:9', '--client-id', 'x', '--url', 'AWAY'],
    says: /127\.0\.0\.1:9/,
  },
  { args: ['whoami', '--token', 'two words'], says: /--token or MEX_TOKEN\) must be a bearer token/ },
  { args: ['whoami'], env: { MEX_TOKEN: '' }, says: /--token or MEX_TOKEN\) must be a bearer token/ },
  { args: ['whoami'], env: { MEX_PROFILE: '../x' }, says: /cannot name a profile: use letters, digits/ },
  { args: ['whoami', '--token', 'garbage'], says: /\(TOKEN_INVALID\)\n {2}Get a fresh token/ },
  { args: ['whoami', '--token', 'STRANGER'], says: /\(PRINCIPAL_UNKNOWN\)\n {2}Ask the operator to bind/ },
  {
    args: ['admin', 'roots', 'list', ...AS],
    says: /\(PERMISSION_DENIED\)\n {2}The token in use may not do this/,
  },
];

const FILES: BadInput[] = [
  {
    args: ['identity', 'create', 'dataProviders/x', '--out', 'FOLDER'],
    says: /is not empty, .*: give another folder with --out/,
  },
  {
    args: ['identity', 'create', 'dataProviders/x', '--out', 'FOLDER/n', '--days', '0'],
    says: /--days must be 1/,
  },
  {
    args: ['identity', 'create', 'dataProviders/x', '--out', 'FOLDER/n', '--renew', 'FOLDER/none'],
    says: /cannot be read \(ENOENT\): give the party\.json that mex identity made/,
  },
  {
    args: ['identity', 'create', 'dataProviders/x', '--out', 'FOLDER/text/n'],
    says: /\(ENOTDIR\).*check the path|another/,
  },
  { args: ['certificates', 'create', 'FOLDER/none.pem', ...AS], says: /\(ENOENT\): give a certificate/ },
  {
    args: ['certificates', 'create', 'FOLDER/text', ...AS],
    says: /it is not a certificate\. Give a certificate/,
  },
  {
    args: ['certificates', 'create', 'FOLDER/cut.pem', ...AS],
    says: /truncated or damaged\. Give a certificate/,
  },
  {
    args: ['certificates', 'create', 'FOLDER/key.pem', ...AS],
    says: /but no certificate\. Give a certificate/,
  },
  { args: ['admin', 'roots', 'add', 'FOLDER'], says: /\(EISDIR\): give a certificate/ },
  { args: ['admin', 'onboard', 'FOLDER/none.json', ...BOUND], says: /ENOENT\): give the party\.json/ },
  {
    args: ['admin', 'onboard', 'FOLDER/half.json', ...BOUND],
    says: /is missing\. Ask the party for a new one/,
  },
  { args: ['keys', 'inspect', 'FOLDER/none'], says: /cannot be read \(ENOENT\): give / },
  {
    args: ['keys', 'inspect', 'FOLDER/empty'],
    says: /has no key: ask its owner for the keyset again\. Give a/,
  },
  { args: ['keys', 'inspect', 'FOLDER/text'], says: /text: / },
  {
    args: ['keys', 'create-keyset', '--private', 'FOLDER/new', '--public', 'FOLDER/text'],
    says: /never overwritten: give another file/,
  },
  {
    args: ['measure', 'reach', '--identity', 'FOLDER', ...reach().slice(4)],
    says: /--root with the PEM file of a root/,
  },
  {
    args: ['measure', 'reach', '--identity', 'FOLDER/none', '--root', 'FOLDER/none', ...reach().slice(4)],
    says: /\(ENOENT\): give a certificate/,
  },
  { args: ['provider', 'run', ...AS], says: /--events with Parquet or CSV files/ },
  { args: ['provider', 'run', '--config', 'FOLDER/none.json'], says: /none\.json/ },
  { args: ['provider', 'run', '--config', 'FOLDER/text'], says: /text/ },
  {
    args: ['provider', 'status', '--ledger', 'FOLDER/none'],
    says: /is not there: mex provider run creates it/,
  },
  {
    args: ['provider', 'status', '--ledger', 'FOLDER'],
    says: /is not a ledger.*give the file that the agent/,
  },
  { args: ['certificates', 'create', '', ...AS], says: /An empty path cannot be read .*give a certificate/ },
  {
    args: ['descriptors', 'create', 'FOLDER/text', '--as', 'streamly'],
    says: /is not a schema: give a File/,
  },
  {
    args: ['demo', '--report', 'FOLDER/none/x.html'],
    says: /x\.html cannot be opened \(ENOENT\): .*check the path/,
  },
  {
    args: ['report', 'plan', 'FOLDER/none.yaml', ...AS],
    says: /none\.yaml is neither a file nor a report: check the path/,
  },
  {
    args: ['report', 'plan', 'FOLDER/segments.json', ...AS],
    says: /segments\.tv: It must look like dataProviders\/x or dataProviders\/x:group/,
  },
  { args: ['demo', '--csv', 'FOLDER'], says: /\(EISDIR\): it is a folder: name a file/ },
  { args: ['duchy', 'run'], says: /--config with its settings, or in development --as/ },
  {
    args: ['duchy', 'run', '--config', 'FOLDER/none.json'],
    says: /none\.json cannot be read .*mex duchy init/,
  },
  { args: ['descriptors', 'create', 'FOLDER/none.pb', '--as', 'streamly'], says: /ENOENT/ },
  { args: ['backup', 'FOLDER'], says: /use its own tools/ },
  { args: ['restore', 'FOLDER'], says: /use its own tools/ },
  { args: ['verify', 'measurement', 'x'], says: /Say who you are: --identity/ },
];

/**
 * Returns the arguments of `mex provider run`. The agent opens the provider's files first, so a wrong file ends the
 * command before the agent answers a requisition or charges the budget.
 */
const run = (...more: string[]) => ['provider', 'run', '--as', 'streamly', '--once', ...more];
const PROVIDERS: BadInput[] = [
  {
    args: run('--events', 'FOLDER/none.csv'),
    says: /no file .*none\.csv: put it there, or correct the path/,
  },
  { args: run('--events', 'FOLDER'), says: /is a folder: name its files, such as .*\/\*\.parquet/ },
  { args: run('--events', 'FOLDER/text'), says: /text is not a whole Parquet file: write it again/ },
  {
    args: run('--events', 'FOLDER/columns.csv'),
    says: /no column "vid".* Name the right one in the settings/,
  },
  { args: run('--population', 'FOLDER/none.json'), says: /\(ENOENT\): give the virtual population/ },
  {
    args: run('--population', 'FOLDER/half.json'),
    says: /half\.json: subpopulations must be a list.*Correct the file/,
  },
  { args: run('--concurrency', 'two', '--events', 'FOLDER/none.csv'), says: /a whole number above 0/ },
];

const SERVERS: BadInput[] = [
  {
    args: ['serve', '--dev', '--port', 'TAKEN'],
    says: /is in use \(EADDRINUSE\): stop the program .*--port or PORT/,
  },
  { args: ['serve', '--dev'], env: { PORT: '' }, says: /PORT is empty: give it a value, or unset it/ },
  { args: ['serve', '--dev'], env: { MEX_DATA_DIR: '' }, says: /MEX_DATA_DIR is empty: give it a value/ },
  { args: ['serve', '--dev'], env: { HOST: '0.0.0.0' }, says: /loopback only: .*Unset HOST/ },
  {
    args: ['serve', '--dev'],
    env: { MEX_CONFIG: 'FOLDER/none.json' },
    says: /MEX_CONFIG .*none\.json cannot be read/,
  },
  { args: ['serve', '--dev'], env: { MEX_CONFIG: 'FOLDER/text' }, says: /MEX_CONFIG .*text is not JSON/ },
  { args: ['serve', '--dev'], env: { MEX_DUCHIES: 'no' }, says: /MEX_DUCHIES must be on or off, not no/ },
  { args: ['doctor'], env: { DATABASE_URL: 'mex' }, says: /DATABASE_URL must be a URL such as postgres:/ },
  {
    args: ['doctor'],
    env: { DATABASE_URL: 'postgres://x@127.0.0.1:9/mex' },
    says: /ECONNREFUSED\): start it there, or correct/,
  },
  {
    args: ['doctor'],
    env: { DATABASE_URL: 'postgres://x@no.such.host.invalid/mex' },
    says: /(ENOTFOUND|EAI_AGAIN)\): start it/,
  },
  {
    args: ['doctor'],
    env: { DATABASE_URL: 'NO_DATABASE' },
    says: /does not exist \(3D000\)\. What to do: create it, or/,
  },
  {
    args: ['doctor'],
    env: { DATABASE_URL: 'NO_ROLE' },
    says: /\(28000|28P01\)\. What to do: correct the user/,
  },
  {
    args: ['migrate'],
    env: { DATABASE_URL: 'NO_GRANTS' },
    says: /\(42501\)\. What to do: grant it to this user, or/,
  },
  {
    args: ['serve', '--dev'],
    env: { MEX_DATA_DIR: 'FOLDER/text/data' },
    says: /\(ENOTDIR\).*MEX_DATA_DIR names/,
  },
];

export const BAD_INPUTS: BadInput[] = [
  ...FLAGS,
  ...QUESTIONS,
  ...FILTERS,
  ...NAMES,
  ...ADDRESSES,
  ...TOKENS,
  ...FILES,
  ...PROVIDERS,
  ...SERVERS,
];
