/** Checks the configuration of the gRPC server, and starts the server. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../config/settings.ts';
import type { RpcServer, RpcServerOptions } from './server.ts';

export type { RpcServer };

/** Returns the problems of the gRPC settings in production mode. */
export function rpcProblems({ grpcPort, grpcTls, tls }: Config): string[] {
  if (grpcPort === undefined || (grpcTls ?? tls) !== undefined) return [];
  return ['grpcPort: gRPC needs TLS, by which its clients identify themselves. Set grpcTls, or tls.'];
}

/**
 * Starts the gRPC server. If no port is set, production mode has no gRPC server, and the server of development mode
 * listens on any free port.
 */
export async function startRpc(
  config: Config,
  options: Pick<RpcServerOptions, 'pipeline' | 'isReady'> & {
    developmentTls(): Promise<RpcServerOptions['tls']>;
  },
): Promise<RpcServer | undefined> {
  const { mode, grpcHost: host = config.host, grpcPort: port, grpcTls: files = config.tls, direct } = config;
  if (mode === 'production' && (port === undefined || files === undefined)) return undefined;
  const { pipeline, isReady, developmentTls } = options;
  const tls =
    mode === 'production'
      ? { cert: await readFile(files!.certFile), key: await readFile(files!.keyFile) }
      : await developmentTls();
  // Load this module only if gRPC is on, because nothing else uses most of its code.
  const { listenRpc } = await import('./server.ts');
  const maxMessageBytes = config.bodyLimitBytes;
  return listenRpc({ host, port: port ?? 0, tls, pipeline, isReady, maxMessageBytes, direct });
}
