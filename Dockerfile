# Two images: `docker build --target observer-manager .` and `docker build --target observer-service .`
# The packages of a target are those of its workspace alone; compiler and tests stay behind.

ARG NODE_IMAGE=node:24-bookworm-slim

# The manifests alone, so that the layers of packages last until one of them changes.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY libs/broker/package.json libs/broker/
COPY libs/client/package.json libs/client/
COPY libs/contracts/package.json libs/contracts/
COPY libs/metrics/package.json libs/metrics/
COPY libs/sdk/package.json libs/sdk/
COPY libs/settings/package.json libs/settings/
COPY libs/tracing/package.json libs/tracing/
COPY services/observer-manager/package.json services/observer-manager/
COPY services/observer-service/package.json services/observer-service/
COPY services/status-page/package.json services/status-page/
COPY observers/package.json observers/
COPY demo/package.json demo/
COPY cli/package.json cli/
COPY create/package.json create/
COPY test/generated-client/package.json test/generated-client/

FROM manifests AS build
RUN npm ci --ignore-scripts
COPY tsconfig.base.json ./
COPY scripts/bundle.mjs scripts/
COPY scripts/bundles scripts/bundles
COPY libs libs
COPY services services
COPY observers observers
RUN npx tsc -b services/observer-manager services/observer-service observers libs/client \
 && node scripts/bundle.mjs services/observer-manager services/observer-service \
 && npm run build --workspace services/status-page \
 && rm -rf libs/*/src services/*/src

FROM manifests AS manager-packages
RUN npm ci --ignore-scripts --omit=dev --workspace services/observer-manager

FROM manifests AS service-packages
RUN npm ci --ignore-scripts --omit=dev --workspace services/observer-service --workspace observers

# In a container only its own network sees 0.0.0.0. PORT is what the health check asks, too.
FROM ${NODE_IMAGE} AS runtime
LABEL org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="The Unacked maintainers"
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /app/libs/broker libs/broker
COPY --from=build /app/libs/contracts libs/contracts
COPY --from=build /app/libs/metrics libs/metrics
COPY --from=build /app/libs/settings libs/settings
COPY --from=build /app/libs/tracing libs/tracing
# Where TLS_CLIENT_CA_FILE asks for a certificate, which the check has not, it gets as far as the handshake: that is answer enough.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "const end = (isWell) => process.exit(isWell ? 0 : 1); const asked = require(process.env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.PORT, path: '/healthz', rejectUnauthorized: false }, (answer) => end(answer.statusCode === 200)).on('error', () => end(false)); if (process.env.TLS_CLIENT_CA_FILE) asked.on('socket', (socket) => socket.once('secureConnect', () => end(true)))"]
USER node

FROM runtime AS observer-manager
LABEL org.opencontainers.image.title="Unacked observer-manager" \
      org.opencontainers.image.description="Keeps the books of infinite jobs in PostgreSQL and speaks REST."
COPY --from=manager-packages /app/node_modules node_modules
COPY --from=build /app/services/observer-manager/package.json services/observer-manager/
COPY --from=build /app/services/observer-manager/bundle services/observer-manager/bundle
COPY --from=build /app/services/status-page/dist services/status-page/dist
ENV PORT=8080
EXPOSE 8080
# The program itself, no shell and no npm between: SIGTERM has to reach it.
CMD ["node", "services/observer-manager/bundle/main.js"]

FROM runtime AS observer-service
LABEL org.opencontainers.image.title="Unacked observer-service" \
      org.opencontainers.image.description="Runs infinite jobs: each is a message that stays unacked while it runs."
COPY --from=build /app/libs/sdk libs/sdk
COPY --from=service-packages /app/node_modules node_modules
COPY --from=build /app/services/observer-service/package.json services/observer-service/
COPY --from=build /app/services/observer-service/bundle services/observer-service/bundle
# Your own go beside them: `FROM` this image and `COPY my-observer.ts observers/`, or mount a file there.
COPY observers/package.json observers/
COPY --from=build /app/observers/dist observers
ENV PORT=8081 OBSERVERS_DIR=observers
EXPOSE 8081
CMD ["node", "services/observer-service/bundle/main.js"]
