import { convertedVersion, kind } from '../../kind.ts'
import { autoscalerChecks } from './autoscaler-checks.ts'
import { withRules } from './behavior.ts'
import { horizontalPodAutoscalerColumns } from './columns.ts'
import { cpuTarget, fromV1, toV1, withoutOwnAnnotations } from './conversion-v1.ts'
import { type HorizontalPodAutoscaler, horizontalPodAutoscalerSchema } from './schema.ts'
import { type HorizontalPodAutoscalerV1, horizontalPodAutoscalerV1Schema } from './schema-v1.ts'

/** Percent of the requested CPU that pods are to use where nothing is said. */
export const defaultCpuUtilization = 80

/** An autoscaler without metrics scales by the CPU; a behavior that says something says all of it. */
function withDefaults(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec } = autoscaler
  const metrics = spec.metrics === undefined ? [cpuTarget(defaultCpuUtilization)] : spec.metrics
  const behavior = spec.behavior && withRules(spec.behavior)
  if (metrics === spec.metrics && behavior === spec.behavior) return autoscaler
  return { ...autoscaler, spec: { ...spec, metrics, ...(behavior === undefined ? {} : { behavior }) } }
}

/** What stands in annotations of autoscaling/v1 is in fields here. */
function withoutAnnotations(autoscaler: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const metadata = withoutOwnAnnotations(autoscaler.metadata)
  return metadata === autoscaler.metadata ? autoscaler : { ...autoscaler, metadata }
}

const names = { plural: 'horizontalpodautoscalers', shortNames: ['hpa'], categories: ['all'] }

/** `autoscaling/v1` horizontalpodautoscalers. */
export const horizontalPodAutoscalersV1 = convertedVersion<HorizontalPodAutoscaler, HorizontalPodAutoscalerV1>(
  horizontalPodAutoscalerV1Schema,
  { ...names, toHub: fromV1, fromHub: toV1 },
)

/** `autoscaling/v2` horizontalpodautoscalers. */
export const horizontalPodAutoscalers = kind<HorizontalPodAutoscaler>(horizontalPodAutoscalerSchema, {
  ...names,
  versions: [horizontalPodAutoscalersV1],
  columns: horizontalPodAutoscalerColumns,
  defaults: withDefaults,
  prepareForCreate: (autoscaler) => ({ ...withoutAnnotations(autoscaler), status: { desiredReplicas: 0 } }),
  prepareForUpdate: withoutAnnotations,
  prepareForStatusUpdate: (autoscaler, old) => ({ ...withoutAnnotations(autoscaler), spec: old.spec }),
  load: autoscalerChecks.load,
  validate: (autoscaler) => autoscalerChecks.get().validateHorizontalPodAutoscaler(autoscaler),
  validateCreate: (autoscaler) => autoscalerChecks.get().validateNewHorizontalPodAutoscaler(autoscaler),
  validateUpdate: (autoscaler, old) => autoscalerChecks.get().validateHorizontalPodAutoscalerUpdate(autoscaler, old),
  validateStatusUpdate: (autoscaler) => autoscalerChecks.get().validateHorizontalPodAutoscalerStatus(autoscaler),
})
