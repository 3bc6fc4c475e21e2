/** The messages that parties sign or encrypt for each other, including all nested messages. */
export * from '../gen/wfa/measurement/api/v2alpha/event_group_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/measurement_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/protocol_config_pb.ts';
export * from '../gen/wfa/measurement/api/v2alpha/specs_pb.ts';
