/** What a message is sealed for, beside the key of its recipient: it opens as no other message. */
export function messageContext({
  computation,
  stage,
  sender,
  recipient,
}: Record<'computation' | 'stage' | 'sender' | 'recipient', string>): string {
  return `mex ${stage} of ${computation} from ${sender} to ${recipient}`;
}
