import { loadTracing, type Tracing } from "@unacked/tracing";

/** The service that the spans belong to. */
export interface TracedService {
  readonly serviceId: string;
  readonly serviceName: string;
  readonly pool: string;
  readonly version: string;
}

/**
 * Starts tracing in the service and in each of its slots, before observers are loaded, which may bring instrumentation of
 * their own.
 */
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
