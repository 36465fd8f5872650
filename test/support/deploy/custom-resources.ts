import { z } from "zod";

/**
 * The fields that our manifests use of kinds that operators define, written down from their published definitions (the CRD of
 * the version named at each). A field that is not here is refused: look it up there first, then add it.
 */
const text = z.string();
const count = z.int().min(0);
const labels = z.record(z.string(), z.string());
const resources = z.strictObject({ requests: labels.optional(), limits: labels.optional() });
const labelSelector = z.strictObject({ matchLabels: labels });

/** Kubernetes' own parts inside of a RabbitmqCluster. */
const topologySpread = z.strictObject({
  maxSkew: z.int().min(1),
  topologyKey: text,
  whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]),
  labelSelector,
});
const podAntiAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(z.strictObject({ topologyKey: text, labelSelector })),
});

/** rabbitmq/cluster-operator v2.22.3, config/crd/bases/rabbitmq.com_rabbitmqclusters.yaml */
const RabbitmqCluster = z.strictObject({
  replicas: count,
  image: text,
  tls: z.strictObject({
    secretName: text,
    caSecretName: text.optional(),
    disableNonTLSListeners: z.boolean().optional(),
  }),
  rabbitmq: z.strictObject({ additionalConfig: text.max(100_000), additionalPlugins: z.array(text).optional() }),
  persistence: z.strictObject({ storage: text, storageClassName: text.optional() }),
  resources,
  affinity: z.strictObject({ podAntiAffinity }),
  override: z.strictObject({
    statefulSet: z.strictObject({
      spec: z.strictObject({
        template: z.strictObject({
          spec: z.strictObject({
            containers: z.array(
              z.strictObject({
                name: z.literal("rabbitmq"),
                volumeMounts: z.array(z.strictObject({ name: text, mountPath: text, readOnly: z.boolean().optional() })),
              }),
            ),
            volumes: z.array(z.strictObject({ name: text, secret: z.strictObject({ secretName: text }) })),
            topologySpreadConstraints: z.array(topologySpread),
          }),
        }),
      }),
    }),
  }),
});

/** cloudnative-pg v1.30.0, config/crd/bases/postgresql.cnpg.io_clusters.yaml */
const Cluster = z.strictObject({
  instances: z.int().min(1),
  imageName: text,
  bootstrap: z.strictObject({ initdb: z.strictObject({ database: text, owner: text }) }),
  postgresql: z.strictObject({
    synchronous: z.strictObject({ method: z.enum(["any", "first"]), number: z.int().min(1) }),
    pg_hba: z.array(text).optional(),
  }),
  storage: z.strictObject({ size: text, storageClass: text.optional() }),
  resources,
  affinity: z.strictObject({
    enablePodAntiAffinity: z.boolean(),
    podAntiAffinityType: z.enum(["preferred", "required"]),
    topologyKey: text,
  }),
});

const scalingRules = z.strictObject({
  stabilizationWindowSeconds: count.max(3_600),
  policies: z.array(
    z.strictObject({
      type: z.enum(["Pods", "Percent"]),
      value: z.int().min(1),
      periodSeconds: z.int().min(1).max(1_800),
    }),
  ),
});

/** keda v2.20.2, config/crd/bases/keda.sh_scaledobjects.yaml, and the trigger's own keys in pkg/scalers/metrics_api_scaler.go */
const ScaledObject = z.strictObject({
  scaleTargetRef: z.strictObject({ apiVersion: text, kind: text, name: text }),
  minReplicaCount: count,
  maxReplicaCount: count,
  pollingInterval: z.int().min(1),
  fallback: z.strictObject({
    failureThreshold: count,
    replicas: count,
    behavior: z.enum(["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]),
  }),
  advanced: z.strictObject({
    horizontalPodAutoscalerConfig: z.strictObject({
      behavior: z.strictObject({ scaleUp: scalingRules, scaleDown: scalingRules }),
    }),
  }),
  triggers: z.array(
    z.strictObject({
      type: z.literal("metrics-api"),
      metricType: z.enum(["AverageValue", "Value"]),
      metadata: z.strictObject({
        url: z.url(),
        format: z.enum(["prometheus", "json", "xml", "yaml"]),
        valueLocation: text,
        targetValue: text.regex(/^\d+(\.\d+)?$/),
      }),
    }),
  ),
});

const duration = z.string().regex(/^\d+(ms|s|m|h)$/);

/** prometheus-operator v0.93.0, example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml */
const PodMonitor = z.strictObject({
  jobLabel: text,
  selector: labelSelector,
  podMetricsEndpoints: z.array(
    z.strictObject({
      port: text,
      path: text,
      interval: duration,
      relabelings: z.array(z.strictObject({ sourceLabels: z.array(text), targetLabel: text })),
    }),
  ),
});

/** prometheus-operator v0.93.0, example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml */
const PrometheusRule = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: text.min(1),
      rules: z.array(z.strictObject({ alert: text, expr: text, for: duration.optional(), labels, annotations: labels })),
    }),
  ),
});

/** cert-manager v1.21.1, deploy/crds/cert-manager.io_issuers.yaml */
const Issuer = z.union([
  z.strictObject({ selfSigned: z.strictObject({}) }),
  z.strictObject({ ca: z.strictObject({ secretName: text }) }),
]);

/** cert-manager v1.21.1, deploy/crds/cert-manager.io_certificates.yaml; its durations have no days. */
const Certificate = z.strictObject({
  isCA: z.boolean().optional(),
  commonName: text.max(64).optional(),
  dnsNames: z.array(text).optional(),
  secretName: text,
  duration: duration.optional(),
  privateKey: z.strictObject({
    algorithm: z.enum(["RSA", "ECDSA", "Ed25519"]),
    rotationPolicy: z.enum(["Never", "Always"]).optional(),
  }),
  issuerRef: z.strictObject({ kind: z.enum(["Issuer", "ClusterIssuer"]), name: text }),
});

/** The `spec` by `apiVersion kind`. */
export const CUSTOM_RESOURCES: Readonly<Record<string, z.ZodType>> = {
  "rabbitmq.com/v1beta1 RabbitmqCluster": RabbitmqCluster,
  "postgresql.cnpg.io/v1 Cluster": Cluster,
  "cert-manager.io/v1 Issuer": Issuer,
  "cert-manager.io/v1 Certificate": Certificate,
  "keda.sh/v1alpha1 ScaledObject": ScaledObject,
  "monitoring.coreos.com/v1 PodMonitor": PodMonitor,
  "monitoring.coreos.com/v1 PrometheusRule": PrometheusRule,
};
