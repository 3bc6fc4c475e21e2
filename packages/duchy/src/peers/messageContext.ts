/** Returns the context that binds an encrypted message to its computation, stage, sender and recipient. */
export function messageContext(of: Record<'computation' | 'stage' | 'sender' | 'recipient', string>): string {
  return `mex ${of.stage} of ${of.computation} from ${of.sender} to ${of.recipient}`;
}
