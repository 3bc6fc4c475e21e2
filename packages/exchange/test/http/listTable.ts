/** Describes each list of the routes table: its paths, its query parameters, and the SQL that selects its items. */
import { createHash } from 'node:crypto';

/** A list and its equivalent in SQL. */
export interface List {
  /** The path of the tested list, followed by paths of the same kind of list under other parents. */
  paths: [string, ...string[]];
  table: string;
  /** The SQL condition for the rows that belong to the list. */
  where?: string;
  /** The SQL condition for the rows that the list shows without a filter. */
  unfiltered?: string;
  /** The SQL expression for the last part of an item's name. The default is `id`. */
  key?: string;
  /**
   * Maps each query string to the SQL sort order of the items that the list returns for the query. The default is
   * `BY_CREATION`.
   */
  orders?: Record<string, string>;
  /** For each query parameter, its test values and the SQL condition for each value. */
  filters?: Record<string, Filter[]>;
  /** Queries with which the list returns the same items, and accepts the same page tokens, as without a query. */
  same?: string[];
}
type Filter = [value: string, condition: string];

/**
 * Returns the time that is this many microseconds after the start of the loaded test data. Each group of ten
 * consecutive measurements has the same creation time, one microsecond after the group before it.
 */
export const at = (micros: number) => `2026-01-01T00:00:00.${String(micros).padStart(6, '0')}Z`;
export const day = (n: number) => `2026-03-0${n}T00:00:00.000000Z`;
export const nth = (n: number) => `m${createHash('md5').update(String(n)).digest('hex')}`;

const equal = (column: string, ...values: string[]): Filter[] =>
  values.map((value) => [value, `${column} = '${value}'`]);
const compared = (column: string, operator: string, ...times: string[]): Filter[] =>
  times.map((time) => [time, `${column} ${operator} '${time}'`]);

export const BY_CREATION = { '': 'create_time, id' };
const BY_EITHER_CREATION = {
  'orderBy=createTime': 'create_time, id',
  'orderBy=createTime%20desc': 'create_time DESC, id DESC',
};
const BY_UPDATE = { ...BY_CREATION, [`filter.updatedAfter=${at(0)}`]: 'update_time, id' };

const ACTIVE = `state = 'ACTIVE'`;
const START = `coalesce(availability_start, '-infinity')`;
const END = `coalesce(availability_end, 'infinity')`;
const EVENT_GROUPS = {
  table: 'event_groups',
  unfiltered: ACTIVE,
  orders: {
    ...BY_CREATION,
    'orderBy=dataAvailabilityStartTime': `${START}, id`,
    'orderBy=dataAvailabilityStartTime%20desc': `${START} DESC, id DESC`,
  },
};
const EVENT_GROUP_FILTERS: Record<string, Filter[]> = {
  'filter.mediaTypes': [
    ['VIDEO', `'VIDEO' = ANY(media_types) AND ${ACTIVE}`],
    ['DISPLAY', `'DISPLAY' = ANY(media_types) AND ${ACTIVE}`],
  ],
  'filter.dataAvailabilityStartTimeOnOrAfter': compared(
    `${ACTIVE} AND availability_start`,
    '>=',
    day(1),
    day(2),
  ),
  'filter.dataAvailabilityStartTimeOnOrBefore': compared(
    `${ACTIVE} AND availability_start`,
    '<=',
    day(1),
    day(2),
  ),
  'filter.dataAvailabilityEndTimeOnOrAfter': compared(`${ACTIVE} AND ${END}`, '>=', day(5), day(6)),
  'filter.dataAvailabilityEndTimeOnOrBefore': compared(`${ACTIVE} AND ${END}`, '<=', day(5), day(6)),
  'filter.metadataSearchQuery': [
    ['cola', `brand_name = 'Cola' AND ${ACTIVE}`],
    ['winter', `campaign_name = 'Winter' AND ${ACTIVE}`],
  ],
  'filter.entityTypes': [
    ['campaign', `coalesce(entity_type, 'campaign') = 'campaign' AND ${ACTIVE}`],
    ['creative', `entity_type = 'creative' AND ${ACTIVE}`],
  ],
  showDeleted: [['true', 'true']],
};

export const [ACME, GLOBEX] = ['measurementConsumers/acme', 'measurementConsumers/globex'];
export const [STREAMLY, CHIRPER] = ['dataProviders/streamly', 'dataProviders/chirper'];
export const [FIRST_DUCHY, SECOND_DUCHY] = ['duchies/a', 'duchies/b'];

/** Returns the key identifier of a certificate that the tests add. */
const keyOf = (party: string, n: number) => createHash('sha256').update(`${party} ${n}`).digest();
const certificates = (party: string, other: string): List => ({
  paths: [`${party}/certificates`, `${other}/certificates`],
  table: 'certificates',
  where: `party = '${party}'`,
  filters: {
    'filter.subjectKeyIdentifiers': [1, 2].map((n) => [
      encodeURIComponent(keyOf(party, n).toString('base64')),
      `subject_key_identifier = '\\x${keyOf(party, n).toString('hex')}'`,
    ]),
  },
});
const webhooks = (party: string, other: string): List => ({
  paths: [`${party}/webhooks`, `${other}/webhooks`],
  table: 'webhooks',
  where: `party = '${party}'`,
});
const parties = (collection: string): List => ({
  paths: [collection],
  table: 'parties',
  where: `name LIKE '${collection}/%'`,
  key: `split_part(name, '/', 2)`,
  orders: { '': 'create_time, name' },
});

/** All lists of the routes table except changes, deliveries, and timelines, which have their own tests. */
export const LISTS: Record<string, List> = {
  'GET measurementConsumers/*/measurements': {
    paths: [`${ACME}/measurements`, `${GLOBEX}/measurements`],
    table: 'measurements',
    where: `consumer = '${ACME}'`,
    orders: { ...BY_UPDATE, ...BY_EITHER_CREATION },
    filters: {
      'filter.measurementReferenceId': equal('reference_id', 'spring', 'fall'),
      'filter.states': equal('state', 'SUCCEEDED', 'FAILED'),
      'filter.createdAfter': compared('create_time', '>', at(5), at(6)),
      'filter.createdBefore': compared('create_time', '<', at(5), at(6)),
      'filter.updatedAfter': compared('update_time', '>', at(20), at(21)),
      'filter.updatedBefore': compared('update_time', '<', at(20), at(21)),
    },
  },
  'GET measurementConsumers/*/reports': {
    paths: [`${ACME}/reports`, `${GLOBEX}/reports`],
    table: 'reports',
    where: `consumer = '${ACME}'`,
    unfiltered: `state <> 'DELETED'`,
    orders: { '': 'create_time DESC, id DESC' },
    filters: { 'filter.states': equal('state', 'PLANNED', 'COMPLETE') },
  },
  'GET measurementConsumers/*/apiKeys': {
    paths: [`${ACME}/apiKeys`, `${GLOBEX}/apiKeys`],
    table: 'api_keys',
    where: `consumer = '${ACME}'`,
  },
  'GET dataProviders/*/requisitions': {
    paths: [`${STREAMLY}/requisitions`, `${CHIRPER}/requisitions`],
    table: 'requisitions',
    where: `provider = '${STREAMLY}'`,
    orders: { ...BY_UPDATE, ...BY_EITHER_CREATION },
    filters: {
      'filter.states': equal('state', 'UNFULFILLED', 'FULFILLED'),
      'filter.updatedAfter': compared('update_time', '>', at(20), at(21)),
    },
  },
  // The requisitions of measurement 200, which failed because one provider refused its requisition. The measurement was
  // created at 20 microseconds and last updated at 28 microseconds.
  'GET measurementConsumers/*/measurements/*/requisitions': {
    paths: [200, 100].map((n) => `${ACME}/measurements/${nth(n)}/requisitions`) as [string, string],
    table: 'requisitions',
    where: `measurement = '${nth(200)}'`,
    orders: BY_UPDATE,
    filters: {
      'filter.states': [
        ['WITHDRAWN', `state = 'WITHDRAWN'`],
        ['REFUSED&filter.states=WITHDRAWN', `state IN ('REFUSED', 'WITHDRAWN')`],
      ],
      'filter.updatedAfter': compared('update_time', '>', at(26), at(27), at(28)),
    },
  },
  'GET dataProviders/*/eventGroupMetadataDescriptors': {
    paths: [STREAMLY, CHIRPER, 'dataProviders/-'].map(
      (parent) => `${parent}/eventGroupMetadataDescriptors`,
    ) as [string, string, string],
    table: 'event_group_metadata_descriptors',
    where: `provider = '${STREAMLY}'`,
    same: ['descriptorSetEncoding=BASE64'],
  },
  'GET dataProviders/*/eventGroups': {
    ...EVENT_GROUPS,
    paths: [`${STREAMLY}/eventGroups`, `${CHIRPER}/eventGroups`],
    where: `provider = '${STREAMLY}'`,
    filters: {
      ...EVENT_GROUP_FILTERS,
      'filter.measurementConsumers': equal(`${ACTIVE} AND consumer`, ACME, GLOBEX),
    },
    same: ['showDeleted=false', `filter.dataProviders=${STREAMLY}`],
  },
  'GET measurementConsumers/*/eventGroups': {
    ...EVENT_GROUPS,
    paths: [`${ACME}/eventGroups`, `${GLOBEX}/eventGroups`],
    where: `consumer = '${ACME}'`,
    filters: {
      ...EVENT_GROUP_FILTERS,
      'filter.dataProviders': equal(`${ACTIVE} AND provider`, STREAMLY, CHIRPER),
    },
    same: ['showDeleted=false', `filter.measurementConsumers=${ACME}`],
  },
  'GET measurementConsumers/*/certificates': certificates(ACME, GLOBEX),
  'GET dataProviders/*/certificates': certificates(STREAMLY, CHIRPER),
  'GET duchies/*/certificates': certificates(FIRST_DUCHY, SECOND_DUCHY),
  'GET measurementConsumers/*/webhooks': webhooks(ACME, GLOBEX),
  'GET dataProviders/*/webhooks': webhooks(STREAMLY, CHIRPER),
  'GET duchies/*/webhooks': webhooks(FIRST_DUCHY, SECOND_DUCHY),
  'GET measurementConsumers': parties('measurementConsumers'),
  'GET dataProviders': parties('dataProviders'),
  'GET duchies': parties('duchies'),
  'GET partyHealth': { ...parties(''), paths: ['partyHealth'], where: 'true', orders: { '': 'name' } },
  'GET duchies/*/computations': {
    paths: [`${FIRST_DUCHY}/computations`, `${SECOND_DUCHY}/computations`],
    table: 'computations',
    where: `duchy = '${FIRST_DUCHY}'`,
    orders: {
      '': 'update_time, id',
      [`filter.updatedAfter=${at(0)}`]: 'update_time, id',
      'orderBy=updateTime': 'update_time, id',
      'orderBy=updateTime%20desc': 'update_time DESC, id DESC',
    },
    filters: {
      'filter.states': equal('state', 'PENDING_PARAMS', 'CANCELLED'),
      'filter.updatedAfter': compared('update_time', '>', at(0), at(1)),
    },
  },
  'GET populations': { paths: ['populations'], table: 'populations' },
  'GET principals': {
    paths: ['principals'],
    table: 'principals',
    filters: { 'filter.resource': equal('resource', ACME, STREAMLY) },
  },
  'GET trustedRoots': { paths: ['trustedRoots'], table: 'trusted_roots' },
  // Entries of one transaction have the same transaction ID and are sorted in the order in which they were written.
  'GET auditEntries': {
    paths: ['auditEntries'],
    table: 'audit_entries',
    key: `regexp_replace(name, '^.*/', '')`,
    orders: { '': 'xid, seq', 'orderBy=time%20desc': 'xid DESC, seq DESC' },
    same: ['orderBy=time'],
    filters: { 'filter.name': equal('name', ACME, STREAMLY) },
  },
};
