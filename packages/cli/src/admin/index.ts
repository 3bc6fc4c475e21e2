import type { Command } from 'commander';
import { group } from '../calls/command.ts';
import { auditCommand } from './audit.ts';
import { certificatesCommand } from './certificates.ts';
import { doctorCommand } from './doctor.ts';
import { healthCommand } from './health.ts';
import { onboardCommand } from './onboard.ts';
import { operatorCommand } from './operator.ts';
import { partiesCommand } from './parties.ts';
import { populationsCommand } from './populations.ts';
import { principalsCommand } from './principals.ts';
import { retentionCommand } from './retention.ts';
import { rootsCommand } from './roots.ts';
import { statusCommand } from './status.ts';

export function adminCommand(): Command {
  return group(
    'admin',
    'run an exchange: parties, principals, certificates, roots, populations, health, retention, audit',
    [
      onboardCommand(),
      partiesCommand(),
      principalsCommand(),
      certificatesCommand(),
      rootsCommand(),
      populationsCommand(),
      healthCommand(),
      doctorCommand(),
      statusCommand(),
      auditCommand(),
      retentionCommand(),
      operatorCommand(),
    ],
  ).addHelpText(
    'after',
    `
Commands call the exchange at MEX_URL (or --url) with the token in MEX_TOKEN (or --token); without either they
find the development exchange of MEX_DATA_DIR and act as its operator. A party with its own token may use
certificates, parties get and parties update for itself. retention and operator go to the database instead.

docs/operating.md walks through onboarding, rotation, revocation and the rest.`,
  );
}
