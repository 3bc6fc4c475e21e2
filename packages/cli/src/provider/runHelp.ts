/** The help text of `mex provider run`: how to start it, and every setting in its file. */
export const RUN_HELP = `
In development, with the demo parties of mex serve --dev:
  mex provider run --as dataProviders/streamly --events impressions.parquet

Otherwise with a file of settings; paths are relative to it, and what is marked * is required:
  {
    "url": "https://exchange.example.com",        else MEX_URL
    "tokenFile": "token",                         read again for every call; else signIn, else MEX_TOKEN
    "signIn": {"issuer": "https://id.example.com", "clientId": "lakeside", "clientSecretFile": "secret",
               "scope": "…", "audience": "…"},    tokens by client credentials, renewed in time: docs/sign-in.md
    "identity": "keys/lakeside",                * the folder that mex identity made
    "earlierIdentities": ["keys/lakeside-2025"],  whose encryption keys may still be in use
    "roots": ["measurementConsumers/acme=acme.pem"],  * whose certificates to trust
    "ledger": "lakeside.ledger",                * spent budget and responses: back it up
    "budget": {"epsilon": 1, "delta": 1e-6, "rho": 0.1},  * for the events of a reference and day
    "events": {"files": "impressions/*.parquet",
               "columns": {"vid": "vid", "timestamp": "timestamp", "eventGroup": "event_group", "duration": "seconds",
                           "attributes": ["age", "country"]},  * what consumers may filter by
               "maximumCombinations": 1000000,    of the attributes of a filter that the engine cannot evaluate
               "timeoutSeconds": 600},            for one requisition, which is then refused
    "references": {                             * who may ask about which events, by their event_group
      "spring": {"measurementConsumers": ["measurementConsumers/acme"],
                 "eventGroups": ["dataProviders/lakeside/eventGroups/x"],  without a reference at the exchange
                 "served": true}},                that your files have it; else confirm it: mex provider check
    "attributes": {"age": {"type": "INT",         of CSV; other files have types. STRING, INT, UINT, DOUBLE, BOOL, TIMESTAMP
      "description": "in years", "exampleValues": ["35"]}},  what consumers read about it, in your event groups
    "population": "population.json",              for population measurements
    "noise": "DISCRETE_GAUSSIAN",                 or GEOMETRIC; else by what the consumer allows
    "maximumFrequencyPerUser": 20,                a lower cap on impressions than the consumer's
    "minimumEpsilon": 0.0001,                     questions with a smaller epsilon are refused
    "graceHours": 168,                            after the end of an interval, until what is recorded is all there is
    "protocols": {"honestMajorityShareShuffle": { who may compute on shares of your counts, with other providers:
      "duchies": {"duchies/alpha": {"rootFile": "alpha.pem"}, …},  * three, of operators independent of each other
      "populations": ["0B:20:6F:4C:…"],         * fingerprints of the people that your VIDs are of: mex populations show
      "noiseMechanisms": ["DISCRETE_GAUSSIAN"],   that is enough for you; else also GEOMETRIC
      "folder": "lakeside.shares"},               order of each population, and shares to be sent
                  "liquidLegions": {              who may compute on encrypted sketches, without a common population:
      "duchies": {"duchies/alpha": {"rootFile": "alpha.pem"}, …},  * two or more
      "protocols": ["reachOnlyLiquidLegionsV2"],  else also liquidLegionsV2, with frequencies
      "noiseMechanisms": ["DISCRETE_GAUSSIAN"]}}, that is enough for you; folder as above
    "concurrency": 2,
    "pollSeconds": 2,                             between two polls while changes cannot be followed
    "operations": {"host": "127.0.0.1", "port": 9464}  serves /healthz, /readyz and /metrics there; else nowhere
  }

Before its first poll, the agent checks its ledger, its population, the columns of all its files, and every line of CSV.
What is wrong is named with its file and line, and nothing is answered until it is right.

The agent follows the changes of its requisitions at the exchange, and polls every 30 seconds in case it was not told of
one. Where changes cannot be followed, because a proxy lets none through, it polls every pollSeconds, and says so once.

One agent uses a ledger at a time. It may be stopped or killed at any point: a stored response is sent again
unchanged, and charged once. A requisition that cannot be fulfilled for now is retried until it can be; one whose upload
a duchy rejects, for two hours (mex provider status).`;
