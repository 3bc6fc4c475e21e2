#!/bin/sh
# Runs once, when the PostgreSQL container creates its data: one database for the exchange, with an owner and an app role,
# and one for each duchy. prepare.sh made the passwords.
set -eu
password() { cat "/etc/mex/$1.password"; }
psql --username postgres --set ON_ERROR_STOP=1 <<SQL
CREATE ROLE mex_own LOGIN PASSWORD '$(password mex_own)';
CREATE ROLE mex_app LOGIN PASSWORD '$(password mex_app)';
CREATE DATABASE mex OWNER mex_own TEMPLATE template0 ENCODING 'UTF8';
SQL
for duchy in alpha beta gamma; do
  psql --username postgres --set ON_ERROR_STOP=1 <<SQL
CREATE ROLE $duchy LOGIN PASSWORD '$(password $duchy)';
CREATE DATABASE $duchy OWNER $duchy TEMPLATE template0 ENCODING 'UTF8';
SQL
done
