/** The size of a message between duchies, in bytes before encryption. */
export interface MessageSize {
  least: number;
  most: number;
}

/** The duchy that sends a message. */
export interface Sender {
  /** The number of data providers that upload to the duchy. */
  uploads: number;
  /** The place of the duchy among the roles of the protocol. */
  place: number;
}
