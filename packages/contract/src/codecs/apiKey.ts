import * as s from '../json/schema.ts';
import { Finding } from './common.ts';

const described = { displayName: s.text(255, 1), description: s.optional(s.text(1000)) };

export const ApiKeyInput = s.object({
  ...described,
  expireTime: s.optional(
    s.timestamp(),
    'When the key stops working, at most a year from now. Default: 90 days from now.',
  ),
});
export type ApiKeyInput = s.Static<typeof ApiKeyInput>;

export const ApiKey = s.object({
  name: s.optional(s.nameOf('apiKey')),
  ...described,
  expireTime: s.timestamp(),
  createTime: s.optional(s.timestamp()),
  authenticationKey: s.optional(
    s.text(100),
    'The key itself. It is shown once, in the response that created it.',
  ),
  findings: s.optional(s.array(Finding)),
});
export type ApiKey = s.Static<typeof ApiKey>;
