import { loadConfig } from '@measurement-exchange/exchange/config';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { readDevFile } from '../files/devFile.ts';

export async function mintDevToken(name: string, hours = 12): Promise<string> {
  const { dataDir } = loadConfig(process.env, { mode: 'development' });
  const { baseUrl } = await readDevFile(dataDir);
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl });
  return issuer.mint(name, Math.round(hours * 3600));
}
