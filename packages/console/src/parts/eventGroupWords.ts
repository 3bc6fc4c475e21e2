/** Text about event groups and their attributes. */
import type { EventGroupAttribute, MediaType } from '@measurement-exchange/contract';

export const MEDIA_WORDS: Record<MediaType, string> = {
  VIDEO: 'Video',
  DISPLAY: 'Display',
  NATIVE: 'Native',
  OTHER: 'Other',
};

export const ATTRIBUTE_WORDS: Record<EventGroupAttribute['type'], string> = {
  STRING: 'text',
  INT: 'whole number',
  UINT: 'whole number from 0',
  DOUBLE: 'number',
  BOOL: 'yes or no',
  TIMESTAMP: 'time',
};
