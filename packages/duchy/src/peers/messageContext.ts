/** Binds a sealed message to its computation, stage, sender and recipient: it opens as no other message. */
export function messageContext({
  computation,
  stage,
  sender,
  recipient,
}: Record<'computation' | 'stage' | 'sender' | 'recipient', string>): string {
  return `mex ${stage} of ${computation} from ${sender} to ${recipient}`;
}
