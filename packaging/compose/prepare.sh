#!/bin/sh
# Writes ./state for compose.yaml: passwords, keys, certificates, settings, and an identity for each party.
#   ./prepare.sh <issuer> <audience> <JWKS URL>
# It creates files and never overwrites one. MEX is the command that runs mex; by default it runs in the image.
set -eu
umask 077
[ $# -eq 3 ] || { echo 'usage: prepare.sh <issuer> <audience> <JWKS URL>' >&2; exit 2; }
issuer=$1 audience=$2 jwks=$3
cd "$(dirname "$0")"
[ ! -e state ] || { echo 'There is a folder ./state: remove it, or keep what it has.' >&2; exit 1; }
mex=${MEX:-"docker run --rm --user $(id -u):$(id -g) --volume $PWD/state:$PWD/state measurement-exchange node packages/cli/src/mex.mjs"}
mkdir -p state/events

# One certificate authority for the connections between the containers.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=measurement-exchange' \
  -addext 'basicConstraints=critical,CA:TRUE' -keyout state/ca.key -out state/ca.pem 2>/dev/null
certificate() { # <service>
  mkdir -p "state/$1"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "state/$1/tls.key" \
    -out "state/$1/tls.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\n' "$1" > "state/$1/tls.ext"
  openssl x509 -req -in "state/$1/tls.csr" -CA state/ca.pem -CAkey state/ca.key -CAcreateserial -days 825 \
    -extfile "state/$1/tls.ext" -out "state/$1/tls.pem" 2>/dev/null
  rm "state/$1/tls.csr" "state/$1/tls.ext"
  cp state/ca.pem "state/$1/ca.pem"
}
for service in postgres exchange alpha beta gamma; do certificate $service; done
mkdir -p state/agent state/consumer
cp state/ca.pem state/agent/ca.pem
cp state/ca.pem state/consumer/ca.pem

for role in postgres mex_own mex_app alpha beta gamma; do openssl rand -hex 24 > "state/postgres/$role.password"; done
database() { # <role> <database>
  echo "postgres://$1:$(cat "state/postgres/$1.password")@postgres/$2?sslmode=verify-full&sslrootcert=/etc/mex/ca.pem"
}

# Identities. Each party trusts the others by the root of their identity.
identity() { $mex identity "$1" --out "$PWD/state/$2/identity" > /dev/null; }
identity measurementConsumers/acme consumer
identity dataProviders/streamly agent
for duchy in alpha beta gamma; do identity "duchies/$duchy" $duchy; done
for folder in alpha beta gamma agent consumer; do
  mkdir "state/$folder/roots"
  for party in alpha beta gamma agent consumer; do
    [ $party = $folder ] || cp "state/$party/identity/root.pem" "state/$folder/roots/$party.pem"
  done
done

cat > state/exchange/config.json <<JSON
{
  "host": "0.0.0.0",
  "grpcPort": 8081,
  "tls": { "certFile": "/etc/mex/tls.pem", "keyFile": "/etc/mex/tls.key" },
  "databaseUrl": "$(database mex_app mex)",
  "databaseAppRole": "mex_app",
  "issuers": [
    { "issuer": "$issuer", "audience": "$audience", "jwksUri": "$jwks", "maxTokenAgeSeconds": 86400 }
  ],
  "allowedPrivateHosts": ["alpha", "beta", "gamma"],
  "pageTokenKey": "$(openssl rand -base64 32)",
  "secretsKey": "$(openssl rand -base64 32)"
}
JSON
echo "DATABASE_OWNER_URL=$(database mex_own mex)" > state/exchange/owner.env

for duchy in alpha beta gamma; do
  peers='' roots='"measurementConsumers/acme=roots/consumer.pem", "dataProviders/streamly=roots/agent.pem"'
  for peer in alpha beta gamma; do
    [ $peer = $duchy ] && continue
    roots="$roots, \"duchies/$peer=roots/$peer.pem\""
    peers="$peers${peers:+, }\"duchies/$peer\": { \"endpoint\": \"https://$peer:8443\" }"
  done
  openssl rand -base64 32 > state/$duchy/secrets.key
  cat > state/$duchy/config.json <<JSON
{
  "url": "https://exchange:8080",
  "signIn": { "issuer": "$issuer", "clientId": "$duchy", "clientSecretFile": "client.secret" },
  "identity": "identity",
  "roots": [$roots],
  "endpoint": "https://$duchy:8443",
  "peers": { $peers },
  "listen": { "host": "0.0.0.0", "port": 8443, "tls": { "certFile": "tls.pem", "keyFile": "tls.key" } },
  "operations": { "host": "0.0.0.0", "port": 9090 },
  "databaseUrl": "$(database $duchy $duchy)",
  "secretsKeyFile": "secrets.key"
}
JSON
done

duchies=''
for duchy in alpha beta gamma; do
  duchies="$duchies${duchies:+, }\"duchies/$duchy\": { \"rootFile\": \"roots/$duchy.pem\", \"endpoint\": \"https://$duchy:8443\" }"
done
cat > state/agent/config.json <<JSON
{
  "url": "https://exchange:8080",
  "signIn": { "issuer": "$issuer", "clientId": "streamly", "clientSecretFile": "client.secret" },
  "identity": "identity",
  "roots": ["measurementConsumers/acme=roots/consumer.pem"],
  "ledger": "/var/lib/mex/ledger",
  "budget": { "epsilon": 1, "delta": 1e-6, "rho": 0.1 },
  "events": {
    "files": ["/var/lib/mex/events/*.parquet"],
    "columns": { "vid": "vid", "timestamp": "timestamp", "eventGroup": "event_group", "attributes": [] }
  },
  "references": { "spring": { "measurementConsumers": ["measurementConsumers/acme"] } },
  "operations": { "host": "0.0.0.0", "port": 9090 },
  "protocols": { "liquidLegions": { "duchies": { $duchies }, "folder": "/var/lib/mex/shares" } }
}
JSON
# The programs in the image run as the user 1000.
[ "$(id -u)" != 0 ] || chown -R 1000:1000 state
echo 'Wrote ./state. Next: docs/deploying.md.'
