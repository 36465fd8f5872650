import { hostname } from "node:os";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import type { TracingOptions } from "./tracing.ts";

/** The attributes of every span of this process. The environment wins. */
export function resourceOf({ program, version, instanceId, attributes = {} }: TracingOptions): Resource {
  const own = {
    "service.namespace": "unacked",
    "service.name": program,
    "service.version": version,
    "service.instance.id": instanceId,
    "host.name": hostname(),
    "process.pid": process.pid,
    ...attributes,
  };
  const fromEnvironment = detectResources({ detectors: [envDetector] });
  return defaultResource().merge(resourceFromAttributes(own)).merge(fromEnvironment);
}
