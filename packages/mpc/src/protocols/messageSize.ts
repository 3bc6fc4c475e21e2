/** The sizes of messages between duchies. */

/** In bytes, before encryption. */
export interface MessageSize {
  least: number;
  most: number;
}

/** The duchy that sends a message. */
export interface Sender {
  /** How many data providers upload to it. */
  uploads: number;
  /** Its place among the roles of the protocol. */
  place: number;
}
