/** The help text of `mex provider run`: how to start the agent, and what its settings file can contain. */
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
               "source": {…},                     instead of files: a table on a server, see below
               "columns": {"vid": "vid", "timestamp": "timestamp", "eventGroup": "event_group", "duration": "seconds",
                           "count": "n",          events of a row, in a table of daily counts; else each row is one
                           "attributes": ["age", "country"]},  * what consumers may filter by
               "vidColumns": {"modelProviders/m/modelLines/2026": "vid_2026"},  instead of vid: one for each model line
               "maximumCombinations": 1000000,    of the attributes of a filter that the engine cannot evaluate
               "timeoutSeconds": 600},            for one requisition, which is then refused
    "references": {                             * who may ask about which events, by their event_group
      "spring": {"measurementConsumers": ["measurementConsumers/acme"],
                 "eventGroups": ["dataProviders/lakeside/eventGroups/x"],  without a reference at the exchange
                 "served": true}},                that your files have it; else confirm it: mex provider check
    "attributes": {"age": {"type": "INT",         of CSV; other files have types. STRING, INT, UINT, DOUBLE, BOOL, TIMESTAMP
      "description": "in years", "exampleValues": ["35"]}},  what consumers read about it, in your event groups
    "population": "population.json",              for population measurements and filters on person.<attribute>
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

Files may be at an S3-compatible store, "files": "s3://lakeside/2026/*.parquet", where DuckDB's extension httpfs reads them:
  "remote": {"prefixes": ["s3://lakeside/2026/"], * nothing else is read there
             "extension": {"file": "httpfs.duckdb_extension", "sha256": "…"},  * for this version of DuckDB; none is downloaded
             "endpoint": "https://minio.internal:9000", "urlStyle": "path", "region": "eu-central-1",  else AWS
             "keyId": "…", "secretFile": "secrets/store"}  or "secretVariable": "STORE_SECRET"

Events in a PostgreSQL or ClickHouse server are counted there; an account that can only read the table is enough:
  "source": {"kind": "postgres", "url": "postgres://warehouse.internal:5432/ads", "table": "ads.impressions",
             "user": "mex_reader", "passwordFile": "secrets/warehouse",  or "passwordVariable": "WAREHOUSE_PASSWORD"
             "caFile": "warehouse-ca.pem"}        whose certificates to trust; else the well-known ones
  "source": {"kind": "clickhouse", "url": "https://clickhouse.internal:8443", "table": "ads.impressions",
             "user": "mex_reader", "passwordFile": "secrets/warehouse", "caFile": "warehouse-ca.pem",
             "final": true,                       for engines that replace rows later
             "memoryLimit": "8GB", "rowLimit": 1000000000000,  for one statement
             "passes": 1,                         more passes over the events take less memory
             "absent": {"country": ""}}           values that mean: no attribute, where columns are not nullable

Before its first poll, the agent checks its ledger, its population, the columns of all its files, and every line of CSV.
What is wrong is named with its file and line, and nothing is answered until it is right.

The agent follows the changes of its requisitions at the exchange, and polls every 30 seconds in case it was not told of
one. Where changes cannot be followed, because a proxy lets none through, it polls every pollSeconds, and says so once.

One agent uses a ledger at a time. It may be stopped or killed at any point: a stored response is sent again
unchanged, and charged once. A requisition that cannot be fulfilled for now is retried until it can be; one whose upload
a duchy rejects, for two hours (mex provider status).`;
