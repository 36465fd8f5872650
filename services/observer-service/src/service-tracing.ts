import { loadTracing, type Tracing } from "@unacked/tracing";

/** Whose spans they are. */
export interface TracedService {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly pool: string;
  readonly version: string;
}

/** Of the service, and of each of its slots: before the observers are loaded, which may bring instrumentation of their own. */
export function serviceTracing(
  { serviceId, serviceName, pool, version }: TracedService,
  log: Parameters<typeof loadTracing>[0]["log"],
): Promise<Tracing | undefined> {
  return loadTracing({
    program: "observer-service",
    version,
    instanceId: serviceId,
    attributes: { "unacked.service.name": serviceName, "unacked.pool": pool },
    hostsOthers: true,
    log,
  });
}
