/** Everything about the messages that are signed and encrypted, and about reading protobuf from strangers. */
export * as tink from '../gen/google/crypto/tink/tink_pb.ts';
export { type Binding, BindingSchema } from '../gen/mex/contract/binding_pb.ts';
export * as duchyMessages from '../gen/mex/contract/duchy_pb.ts';
export * as shareShuffle from '../gen/mex/contract/share_shuffle_pb.ts';
export * as specs from '../gen/wfa/measurement/api/v2alpha/specs_pb.ts';
export * from './measurementSpec.ts';
export * from './measurementSpecViolations.ts';
export * from './typeUrls.ts';
export * from './wellKnown.ts';
export * from './wire.ts';
