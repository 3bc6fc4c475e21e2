/** Checks that an event group's metadata is complete, and that deleted event groups have no metadata. */
import { eventGroups } from '../eventGroups.ts';
import { names, only } from '../table.ts';
import { checks, NAME, RESTORE } from './check.ts';

function eventGroupsWhere(condition: string): string {
  return `SELECT ${NAME.eventGroup} AS name FROM event_groups e WHERE ${condition}`;
}

const ENCRYPTED = names(only(eventGroups, 'encrypted'), 'e');
const READABLE = names(only(eventGroups, 'readable'), 'e');
/** Columns that must be null in a deleted event group. */
const CONTENT = names(
  only(eventGroups, 'encrypted', 'readable', 'publicKey', 'attributes', 'brandName', 'campaignName'),
  'e',
);

export const eventGroupChecks = checks({
  'event-group-deleted': {
    meaning:
      'A deleted event group still has metadata, a key, attributes, or the name of a brand or campaign.',
    remedy: `Set them to NULL: its provider wanted them gone. ${RESTORE}`,
    names: eventGroupsWhere(`e.state = 'DELETED' AND num_nonnulls(${CONTENT}) > 0`),
  },
  'event-group-metadata': {
    meaning:
      'The metadata of an event group is both encrypted and readable, partly missing, or encrypted without a key.',
    remedy: `Ask its provider to update it. ${RESTORE}`,
    names:
      eventGroupsWhere(`e.state = 'ACTIVE' AND (e.metadata_ciphertext IS NOT NULL AND e.descriptor IS NOT NULL
        OR num_nulls(${ENCRYPTED}) NOT IN (0, 2)
        OR num_nulls(${READABLE}) NOT IN (0, 4)
        OR num_nulls(e.key_type, e.key_data) NOT IN (0, 2)
        OR e.metadata_ciphertext IS NOT NULL AND e.key_data IS NULL)`),
  },
  'event-group-descriptor': {
    meaning: "The metadata of an event group refers to another provider's descriptor.",
    remedy: `Ask its provider to update it. ${RESTORE}`,
    names: `SELECT ${NAME.eventGroup} AS name FROM event_groups e
       JOIN event_group_metadata_descriptors d ON d.id = e.descriptor WHERE d.provider <> e.provider`,
  },
});
