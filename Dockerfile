# The exchange or a duchy in production mode, on a PostgreSQL server elsewhere, and with --target agent a data provider's
# agent. docs/production.md, docs/duchy.md, and docs/deploying.md say what they need.
#
# The same commit builds the same image: the base is pinned by its digest, and every package by package-lock.json.
# The version is the Node of package-lock.json, which the tests run on. To go to a newer one: npm update node, then
# write its tag here, and the digest that `docker buildx imagetools inspect <tag>` prints for it.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS base

ENV NODE_ENV=production
WORKDIR /app

# TypeScript runs as it is: there is nothing to build. The development dependencies (a Node of our own among
# them) and the optional ones (an embedded PostgreSQL for each platform) stay out. No package runs a script.
COPY package.json package-lock.json ./
COPY packages packages
# Without the development tools in package.json: the lockfile lacks those of other platforms, and would be rejected.
RUN npm pkg delete devDependencies \
  && npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && npm cache clean --force

# The exchange refuses to run as root. The code stays root's, so that the process cannot change it.
RUN install -d -o node -g node -m 700 /var/lib/mex
USER node

# The agent reads events with DuckDB, whose binary for this platform is an optional dependency.
FROM base AS agent
USER root
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    "@duckdb/node-bindings-linux-$(node -p process.arch)@$(node -p "require('@duckdb/node-bindings/package.json').version")" \
  && npm cache clean --force
USER node
ENV MEX_DATA_DIR=/var/lib/mex
CMD ["node", "packages/cli/src/mex.mjs", "provider", "run", "--config", "/etc/mex/config.json"]

FROM base AS mex

# A container's loopback cannot be reached from outside, so the settings must have tls, or behindTlsProxy with
# trustedProxies. Mount them as a file that only the user node (1000) can read, and name it in MEX_CONFIG.
ENV HOST=0.0.0.0 PORT=8080 MEX_DATA_DIR=/var/lib/mex
# 8081 is for gRPC, which the setting grpcPort turns on.
EXPOSE 8080 8081

# Whether the process lives, not whether its database does: a restart would not help that. With tls in the
# settings this plain request fails: use --no-healthcheck, or a check of your own.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "packages/cli/src/mex.mjs", "serve"]
