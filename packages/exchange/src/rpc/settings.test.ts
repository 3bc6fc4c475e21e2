import { describe, expect, it } from 'vitest';
import { accepts, problemsOf, refuses } from '../../test/production/settings.ts';
import { loadConfig } from '../config/config.ts';

const key = '/etc/mex/key.pem';
const files = (keyFile = key, certFile = '/etc/mex/cert.pem') => ({ certFile, keyFile });

describe('the gRPC server in production mode', () => {
  accepts([
    ['its own TLS', () => problemsOf({ grpcPort: 8443, grpcTls: files() })],
    ['the TLS of HTTP', () => problemsOf({ grpcPort: 8443, tls: files() })],
    ['no port and no TLS', () => problemsOf({ grpcHost: '0.0.0.0' })],
  ]);
  refuses([
    ['a port without TLS', () => problemsOf({ grpcPort: 8443 }), /^grpcPort: gRPC needs TLS.*Set grpcTls/],
    [
      'a key file that does not exist',
      () => problemsOf({ grpcPort: 8443, grpcTls: files('/nowhere') }),
      /^grpcTls\.keyFile \/nowhere cannot be read/,
    ],
    [
      'a certificate file that does not exist',
      () => problemsOf({ grpcPort: 8443, grpcTls: files(key, '/nowhere') }),
      /^grpcTls\.certFile \/nowhere cannot be read/,
    ],
  ]);
});

describe('the environment of the gRPC server', () => {
  it('sets the port and the address', () => {
    expect(loadConfig({ MEX_GRPC_PORT: '0', MEX_GRPC_HOST: '::1' })).toEqual({
      ...loadConfig({}),
      ...{ grpcPort: 0, grpcHost: '::1' },
    });
  });

  it.each(['65536', '-1', '80a'])('cannot set the port to %s', (port) => {
    const problem = `MEX_GRPC_PORT must be a port number, not ${port}.`;
    expect(() => loadConfig({ MEX_GRPC_PORT: port })).toThrow(problem);
  });

  it('cannot set an address other than loopback in development mode', () => {
    const load = (host: string) => loadConfig({ MEX_GRPC_HOST: host }, { mode: 'development' });
    expect(load('127.0.0.2').grpcHost).toBe('127.0.0.2');
    expect(() => load('0.0.0.0')).toThrow('MEX_GRPC_HOST 0.0.0.0 is refused. Unset MEX_GRPC_HOST.');
  });
});
