import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { compareQuantity } from '../../../quantity.ts'
import { checkFormat, checkPathSegment } from '../../../string-formats.ts'
import { containerResourceName } from '../../core/pod/validation/resources.ts'
import { checkNonNegative } from '../../validation.ts'
import type { ScalingPolicy, ScalingRules } from './behavior.ts'
import {
  type CrossVersionObjectReference,
  type MetricIdentifier,
  type MetricSpec,
  type MetricTarget,
  metricSourceFields,
} from './metrics.ts'
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec } from './schema.ts'

/** Seconds a scaling policy may look back. */
export const policyPeriodSecondsMax = 1800
/** Seconds of past recommendations that may be looked at. */
export const stabilizationWindowSecondsMax = 3600

const specPath = FieldPath.of('spec')

/** What is wrong with an autoscaler (autoscaling/validation ValidateHorizontalPodAutoscaler). */
export function validateHorizontalPodAutoscaler({ spec }: HorizontalPodAutoscaler): readonly FieldError[] {
  const { minReplicas = 1, maxReplicas, behavior } = spec
  const maxPath = specPath.field('maxReplicas')
  const policies = specPath.field('behavior')
  return [
    ...maxReplicasErrors(maxReplicas, maxPath),
    ...(maxReplicas < minReplicas
      ? [invalidField(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...referenceErrors(spec.scaleTargetRef, specPath.field('scaleTargetRef')),
    ...(spec.metrics ?? []).flatMap((metric, index) => metricErrors(metric, specPath.field('metrics').index(index))),
    ...scaleToZeroErrors(spec, specPath.field('metrics')),
    ...rulesErrors(behavior?.scaleUp, policies.field('scaleUp')),
    ...rulesErrors(behavior?.scaleDown, policies.field('scaleDown')),
  ]
}

function maxReplicasErrors(maxReplicas: number, path: FieldPath): readonly FieldError[] {
  if (maxReplicas === 0) return [requiredField(path, 'must be set and greater than 0')]
  return maxReplicas < 0 ? [invalidField(path, maxReplicas, 'must be greater than or equal to 1')] : []
}

/** What has no pods has no metrics of them, either. */
function scaleToZeroErrors(
  { minReplicas, metrics = [] }: HorizontalPodAutoscalerSpec,
  path: FieldPath,
): readonly FieldError[] {
  const isWithoutPods = metrics.some(({ type }) => type === 'Object' || type === 'External')
  if (minReplicas !== 0 || isWithoutPods) return []
  const why = 'must specify at least one Object or External metric to support scaling to zero replicas'
  return [forbiddenField(path, why)]
}

/** What a new autoscaler must say beyond that: from how many on it scales, and the group of what it scales. */
export function validateNewHorizontalPodAutoscaler(autoscaler: HorizontalPodAutoscaler): readonly FieldError[] {
  return [...minReplicasErrors(autoscaler, 1), ...targetVersionErrors(autoscaler)]
}

/** As for a new one, but what has been good enough so far stays so. */
export function validateHorizontalPodAutoscalerUpdate(
  autoscaler: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
): readonly FieldError[] {
  const [target, before] = [autoscaler.spec.scaleTargetRef, old.spec.scaleTargetRef]
  const sameTarget = target.kind === before.kind && target.apiVersion === before.apiVersion
  return [
    ...minReplicasErrors(autoscaler, old.spec.minReplicas === 0 ? 0 : 1),
    ...(sameTarget ? [] : targetVersionErrors(autoscaler)),
  ]
}

export function validateHorizontalPodAutoscalerStatus({ status }: HorizontalPodAutoscaler): readonly FieldError[] {
  const path = FieldPath.of('status')
  return [
    ...checkNonNegative(status?.currentReplicas, path.field('currentReplicas')),
    ...checkNonNegative(status?.desiredReplicas, path.field('desiredReplicas')),
  ]
}

/** Scaling to zero is a feature that upstream has turned off: only what did so before may go on. */
function minReplicasErrors({ spec }: HorizontalPodAutoscaler, min: 0 | 1): readonly FieldError[] {
  const { minReplicas = 1 } = spec
  if (minReplicas >= min) return []
  return [invalidField(specPath.field('minReplicas'), minReplicas, `must be greater than or equal to ${min}`)]
}

function targetVersionErrors({ spec: { scaleTargetRef } }: HorizontalPodAutoscaler): readonly FieldError[] {
  // The only kind of the first group that can be scaled needs no version.
  const allowsEmptyGroup = scaleTargetRef.kind === 'ReplicationController'
  return versionErrors(scaleTargetRef, specPath.field('scaleTargetRef'), allowsEmptyGroup)
}

function versionErrors(
  { apiVersion = '' }: CrossVersionObjectReference,
  path: FieldPath,
  allowsEmptyGroup: boolean,
): readonly FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    return [invalidField(path.field('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  }
  const hasGroup = parts.length === 2 && parts[0] !== ''
  if (hasGroup || allowsEmptyGroup) return []
  return [invalidField(path.field('apiVersion'), apiVersion, 'apiVersion must specify API group')]
}

function referenceErrors({ kind, name }: CrossVersionObjectReference, path: FieldPath): readonly FieldError[] {
  return [...segmentErrors(kind, path.field('kind')), ...segmentErrors(name, path.field('name'))]
}

function segmentErrors(text: string, path: FieldPath, missing?: string): readonly FieldError[] {
  if (text === '') return [requiredField(path, missing)]
  return checkPathSegment(text).map((problem) => invalidField(path, text, problem))
}

const metricTypes = Object.keys(metricSourceFields).sort()

function metricErrors(metric: MetricSpec, path: FieldPath): readonly FieldError[] {
  const { type } = metric
  const wanted = Object.hasOwn(metricSourceFields, type)
    ? metricSourceFields[type as keyof typeof metricSourceFields]
    : undefined
  const unsupported = wanted === undefined ? [unsupportedField(path.field('type'), type, metricTypes)] : []
  const present = Object.values(metricSourceFields).filter((field) => metric[field] !== undefined)
  return [
    ...(type === '' ? [requiredField(path.field('type'), 'must specify a metric source type')] : []),
    ...unsupported,
    // Of several sources upstream looks at the first alone.
    ...(present[0] === undefined ? [] : sourceErrors[present[0]](metric, path.field(present[0]))),
    ...(wanted !== undefined && metric[wanted] === undefined
      ? [requiredField(path.field(wanted), 'must populate information for the given metric source')]
      : []),
    ...unsupported,
    ...(present.length === 1 ? [] : present.filter((field) => field !== wanted)).map((field) =>
      forbiddenField(path.field(field), 'must populate the given metric source only'),
    ),
  ]
}

type SourceField = (typeof metricSourceFields)[keyof typeof metricSourceFields]

const sourceErrors: Readonly<Record<SourceField, (metric: MetricSpec, path: FieldPath) => readonly FieldError[]>> = {
  object: ({ object }, path) =>
    object === undefined
      ? []
      : [
          ...referenceErrors(object.describedObject, path.field('describedObject')),
          ...versionErrors(object.describedObject, path.field('describedObject'), true),
          ...identifierErrors(object.metric, path.field('metric')),
          ...targetErrors(object.target, path.field('target')),
          ...valueErrors(object.target, path, 'must set either a target value or averageValue'),
        ],
  external: ({ external }, path) =>
    external === undefined
      ? []
      : [
          ...identifierErrors(external.metric, path.field('metric')),
          ...targetErrors(external.target, path.field('target')),
          ...valueErrors(external.target, path, 'must set either a target value for metric or a per-pod target'),
          ...(external.target.value !== undefined && external.target.averageValue !== undefined
            ? [
                forbiddenField(
                  path.field('target').field('value'),
                  'may not set both a target value for metric and a per-pod target',
                ),
              ]
            : []),
        ],
  pods: ({ pods }, path) =>
    pods === undefined
      ? []
      : [
          ...identifierErrors(pods.metric, path.field('metric')),
          ...targetErrors(pods.target, path.field('target')),
          ...(pods.target.averageValue === undefined
            ? [requiredField(path.field('target').field('averageValue'), 'must specify a positive target averageValue')]
            : []),
        ],
  resource: ({ resource }, path) =>
    resource === undefined
      ? []
      : [
          ...resourceNameErrors(resource.name, path),
          ...targetErrors(resource.target, path.field('target')),
          ...utilizationErrors(resource.target, path.field('target')),
        ],
  containerResource: ({ containerResource }, path) =>
    containerResource === undefined
      ? []
      : [
          ...resourceNameErrors(containerResource.name, path),
          ...(containerResource.name === '' ? [] : containerResourceName(containerResource.name, path.field('name'))),
          ...containerErrors(containerResource.container, path.field('container')),
          ...targetErrors(containerResource.target, path.field('target')),
          ...utilizationErrors(containerResource.target, path.field('target')),
        ],
}

const resourceNameErrors = (name: string, path: FieldPath): readonly FieldError[] =>
  name === '' ? [requiredField(path.field('name'), 'must specify a resource name')] : []

function containerErrors(container: string, path: FieldPath): readonly FieldError[] {
  if (container === '') return [requiredField(path, 'must specify a container')]
  return checkFormat('dns1123-label', container).map((problem) => invalidField(path, container, problem))
}

const identifierErrors = ({ name }: MetricIdentifier, path: FieldPath): readonly FieldError[] =>
  segmentErrors(name, path.field('name'), 'must specify a metric name')

function valueErrors({ value, averageValue }: MetricTarget, path: FieldPath, why: string): readonly FieldError[] {
  const isGiven = value !== undefined || averageValue !== undefined
  return isGiven ? [] : [requiredField(path.field('target').field('averageValue'), why)]
}

function utilizationErrors({ averageUtilization, averageValue }: MetricTarget, path: FieldPath): readonly FieldError[] {
  if (averageUtilization === undefined && averageValue === undefined) {
    const why = 'must set either a target raw value or a target utilization'
    return [requiredField(path.field('averageUtilization'), why)]
  }
  if (averageUtilization === undefined || averageValue === undefined) return []
  return [forbiddenField(path.field('averageValue'), 'may not set both a target raw value and a target utilization')]
}

const targetTypes = ['Utilization', 'Value', 'AverageValue']

function targetErrors(target: MetricTarget, path: FieldPath): readonly FieldError[] {
  const { type, averageUtilization } = target
  return [
    ...(type === '' ? [requiredField(path.field('type'), 'must specify a metric target type')] : []),
    ...(targetTypes.includes(type)
      ? []
      : [invalidField(path.field('type'), type, 'must be either Utilization, Value, or AverageValue')]),
    ...(['value', 'averageValue'] as const).flatMap((field) => {
      const amount = target[field]
      if (amount === undefined || compareQuantity(amount, '0') > 0) return []
      return [invalidField(path.field(field), amount, 'must be positive')]
    }),
    ...(averageUtilization !== undefined && averageUtilization < 1
      ? [invalidField(path.field('averageUtilization'), averageUtilization, 'must be greater than 0')]
      : []),
  ]
}

const selectPolicies = ['Disabled', 'Max', 'Min']

function rulesErrors(rules: ScalingRules | undefined, path: FieldPath): readonly FieldError[] {
  if (rules === undefined) return []
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [], tolerance } = rules
  const windowPath = path.field('stabilizationWindowSeconds')
  return [
    ...(window < 0 ? [invalidField(windowPath, window, 'must be greater than or equal to zero')] : []),
    ...(window > stabilizationWindowSecondsMax
      ? [invalidField(windowPath, window, `must be less than or equal to ${stabilizationWindowSecondsMax}`)]
      : []),
    ...(selectPolicy === undefined || selectPolicies.includes(selectPolicy)
      ? []
      : [unsupportedField(path.field('selectPolicy'), selectPolicy, selectPolicies)]),
    ...(policies.length === 0 ? [requiredField(path.field('policies'), 'must specify at least one Policy')] : []),
    ...policies.flatMap((policy, index) => policyErrors(policy, path.field('policies').index(index))),
    ...(tolerance !== undefined && compareQuantity(tolerance, '0') < 0
      ? [invalidField(path.field('tolerance'), tolerance, 'must be greater than or equal to 0')]
      : []),
  ]
}

const policyTypes = ['Percent', 'Pods']

function policyErrors({ type, value, periodSeconds }: ScalingPolicy, path: FieldPath): readonly FieldError[] {
  const periodPath = path.field('periodSeconds')
  return [
    ...(policyTypes.includes(type) ? [] : [unsupportedField(path.field('type'), type, policyTypes)]),
    ...(value <= 0 ? [invalidField(path.field('value'), value, 'must be greater than zero')] : []),
    ...(periodSeconds <= 0 ? [invalidField(periodPath, periodSeconds, 'must be greater than zero')] : []),
    ...(periodSeconds > policyPeriodSecondsMax
      ? [invalidField(periodPath, periodSeconds, `must be less than or equal to ${policyPeriodSecondsMax}`)]
      : []),
  ]
}
