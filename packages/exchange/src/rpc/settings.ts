/** The settings of the gRPC server, which are part of the configuration of the exchange. */
import { Host, optionalSetting, Port, setting, TlsFiles } from '../config/setting.ts';
import { DEFAULT_DIRECT, DirectProtocol } from './direct.ts';

export const RPC_SETTINGS = {
  grpcPort: optionalSetting(
    Port,
    'the port for gRPC, see [grpc.md](grpc.md); without it there is no gRPC, and in development mode it is on any free port',
    'MEX_GRPC_PORT',
  ),
  grpcHost: optionalSetting(Host, 'the address to listen on for gRPC, by default `host`', 'MEX_GRPC_HOST'),
  grpcTls: optionalSetting(
    TlsFiles,
    'the same as `tls`, for gRPC; by default `tls`. gRPC needs it, because clients identify themselves by TLS',
  ),
  direct: setting(
    DirectProtocol,
    DEFAULT_DIRECT,
    'how data providers may compute direct results: gRPC shows it to them, and they refuse a requisition that does not list their noise mechanism. `NONE` can be added',
  ),
};
