/**
 * Manifests in versions that Kubernetes has served once: read as the version that has taken their place, with what was the
 * default then. Fields that have no successor stay, so that whoever is strict about fields tells of them.
 */
import { isJsonObject, type JsonObject } from '../json.ts'
import { emptySelectorKey } from '../kinds/policy/pod-disruption-budget/empty-selector-key.ts'

export interface FormerVersion {
  readonly object: JsonObject
  /** The apiVersion that the object has now. */
  readonly apiVersion: string
}

type Conversion = (object: JsonObject) => JsonObject

/** The object in today's version; undefined where its version is no former one. The object itself is not changed. */
export function convertFormerVersion(object: JsonObject): FormerVersion | undefined {
  const { apiVersion, kind } = object
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  const key = `${apiVersion} ${kind}`
  const found = Object.hasOwn(conversions, key) ? conversions[key] : undefined
  if (found === undefined) return undefined
  const [today, convert] = found
  return { object: { ...convert(object), apiVersion: today }, apiVersion: today }
}

/** The parts of an object as the conversions need them: absent ones are empty. */
const part = (object: JsonObject, name: string): JsonObject => {
  const value = object[name]
  return isJsonObject(value) ? value : {}
}

const withSpec = (object: JsonObject, spec: JsonObject): JsonObject => ({ ...object, spec })

const asItWas: Conversion = (object) => object

/** Selector and labels once followed from the labels of the template. */
const withSelector: Conversion = (object) => {
  const spec = part(object, 'spec')
  const labels = part(part(spec, 'template'), 'metadata').labels
  if (!isJsonObject(labels)) return object
  const metadata = part(object, 'metadata')
  return {
    ...object,
    metadata: metadata.labels === undefined ? { ...metadata, labels } : metadata,
    spec: spec.selector === undefined ? { ...spec, selector: { matchLabels: labels } } : spec,
  }
}

/** A way back to a revision was asked for in the spec: today `rollout undo` does it. */
function withoutRollback(object: JsonObject): JsonObject {
  const { rollbackTo: _rollbackTo, ...spec } = part(object, 'spec')
  return withSpec(object, spec)
}

const noLimit = 2 ** 31 - 1

/** Deployments replaced one pod at a time, kept all revisions and waited for ever. */
const firstDeployment: Conversion = (object) => {
  const converted = withoutRollback(withSelector(object))
  const spec = part(converted, 'spec')
  const strategy = part(spec, 'strategy')
  const isRolling = strategy.type === undefined || strategy.type === 'RollingUpdate'
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 1, ...part(strategy, 'rollingUpdate') }
  return withSpec(converted, {
    revisionHistoryLimit: noLimit,
    progressDeadlineSeconds: noLimit,
    ...spec,
    ...(isRolling ? { strategy: { ...strategy, type: 'RollingUpdate', rollingUpdate } } : {}),
  })
}

const secondDeployment: Conversion = (object) => {
  const converted = withoutRollback(withSelector(object))
  return withSpec(converted, { revisionHistoryLimit: 2, ...part(converted, 'spec') })
}

/** Pods were replaced when somebody deleted them. */
const replacedByHand: Conversion = (object) => {
  const converted = withSelector(object)
  const { templateGeneration: _templateGeneration, ...spec } = part(converted, 'spec')
  const updateStrategy = part(spec, 'updateStrategy')
  return withSpec(converted, { ...spec, updateStrategy: { type: 'OnDelete', ...updateStrategy } })
}

/** An empty selector once meant none, and now means all. */
const noPod = { key: emptySelectorKey, operator: 'Exists' }

const disruptionBudget: Conversion = (object) => {
  const spec = part(object, 'spec')
  const { selector } = spec
  if (!isJsonObject(selector)) return object
  const { matchLabels, matchExpressions = [] } = selector
  const isEmpty = Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions as readonly unknown[]).length === 0
  return isEmpty ? withSpec(object, { ...spec, selector: { matchExpressions: [noPod] } }) : object
}

/** Ways of an Ingress named their service and its port beside each other. */
const ingress: Conversion = (object) => {
  const { backend, rules, ...spec } = part(object, 'spec')
  const convertRule = (rule: unknown): unknown => {
    if (!isJsonObject(rule) || !isJsonObject(rule.http) || !Array.isArray(rule.http.paths)) return rule
    const paths = rule.http.paths.map((path: unknown) =>
      isJsonObject(path)
        ? { pathType: 'ImplementationSpecific', ...path, backend: ingressBackend(path.backend) }
        : path,
    )
    return { ...rule, http: { ...rule.http, paths } }
  }
  return withSpec(object, {
    ...spec,
    ...(backend === undefined ? {} : { defaultBackend: ingressBackend(backend) }),
    ...(Array.isArray(rules) ? { rules: rules.map(convertRule) } : {}),
  })
}

function ingressBackend(backend: unknown): unknown {
  if (!isJsonObject(backend)) return backend
  const { serviceName, servicePort, ...rest } = backend
  if (serviceName === undefined) return backend
  const port = typeof servicePort === 'number' ? { number: servicePort } : { name: servicePort }
  return { ...rest, service: { name: serviceName, port } }
}

/** Targets of metrics were fields of their own in the first version with metrics. */
const firstMetrics: Conversion = (object) => {
  const spec = part(object, 'spec')
  if (!Array.isArray(spec.metrics)) return object
  return withSpec(object, {
    ...spec,
    metrics: spec.metrics.map((each: unknown) => (isJsonObject(each) ? metric(each) : each)),
  })
}

function metric(each: JsonObject): JsonObject {
  const source = (name: string, convert: Conversion): JsonObject =>
    isJsonObject(each[name]) ? { [name]: convert(part(each, name)) } : {}
  return {
    ...each,
    ...source('resource', usage),
    ...source('containerResource', usage),
    ...source('pods', ({ metricName, selector, targetAverageValue }) => ({
      metric: metricIdentifier(metricName, selector),
      target: { type: 'AverageValue', averageValue: targetAverageValue },
    })),
    ...source('object', ({ target, metricName, selector, targetValue, averageValue }) => ({
      describedObject: target,
      metric: metricIdentifier(metricName, selector),
      target: valueTarget(targetValue, averageValue),
    })),
    ...source('external', ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
      metric: metricIdentifier(metricName, metricSelector),
      target: valueTarget(targetValue, targetAverageValue),
    })),
  }
}

const usage: Conversion = ({ targetAverageUtilization, targetAverageValue, ...rest }) => ({
  ...rest,
  target:
    targetAverageUtilization === undefined
      ? { type: 'AverageValue', averageValue: targetAverageValue }
      : { type: 'Utilization', averageUtilization: targetAverageUtilization },
})

const metricIdentifier = (name: unknown, selector: unknown): JsonObject =>
  selector === undefined ? { name } : { name, selector }

const valueTarget = (value: unknown, averageValue: unknown): JsonObject =>
  averageValue === undefined ? { type: 'Value', value } : { type: 'AverageValue', averageValue }

/** Where an endpoint is was one of the labels of its node. */
const endpointSlice: Conversion = (object) => {
  const { endpoints } = object
  if (!Array.isArray(endpoints)) return object
  return { ...object, endpoints: endpoints.map((each: unknown) => (isJsonObject(each) ? endpoint(each) : each)) }
}

function endpoint({ topology, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(topology)) return rest
  const { 'kubernetes.io/hostname': nodeName, 'topology.kubernetes.io/zone': zone, ...others } = topology
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...rest,
    ...(Object.keys(others).length === 0 ? {} : { deprecatedTopology: others }),
  }
}

/** What each kind of each former version is today. */
const conversions: Readonly<Record<string, readonly [apiVersion: string, convert: Conversion]>> = {
  'extensions/v1beta1 Deployment': ['apps/v1', firstDeployment],
  'extensions/v1beta1 DaemonSet': ['apps/v1', replacedByHand],
  'extensions/v1beta1 ReplicaSet': ['apps/v1', withSelector],
  'extensions/v1beta1 Ingress': ['networking.k8s.io/v1', ingress],
  'extensions/v1beta1 NetworkPolicy': ['networking.k8s.io/v1', asItWas],
  'networking.k8s.io/v1beta1 Ingress': ['networking.k8s.io/v1', ingress],
  'networking.k8s.io/v1beta1 IngressClass': ['networking.k8s.io/v1', asItWas],
  'apps/v1beta1 Deployment': ['apps/v1', secondDeployment],
  'apps/v1beta1 StatefulSet': ['apps/v1', replacedByHand],
  'apps/v1beta1 ControllerRevision': ['apps/v1', asItWas],
  'apps/v1beta2 Deployment': ['apps/v1', asItWas],
  'apps/v1beta2 DaemonSet': ['apps/v1', asItWas],
  'apps/v1beta2 ReplicaSet': ['apps/v1', asItWas],
  'apps/v1beta2 StatefulSet': ['apps/v1', asItWas],
  'apps/v1beta2 ControllerRevision': ['apps/v1', asItWas],
  'batch/v1beta1 CronJob': ['batch/v1', asItWas],
  'batch/v2alpha1 CronJob': ['batch/v1', asItWas],
  'discovery.k8s.io/v1beta1 EndpointSlice': ['discovery.k8s.io/v1', endpointSlice],
  'policy/v1beta1 PodDisruptionBudget': ['policy/v1', disruptionBudget],
  'storage.k8s.io/v1beta1 CSIStorageCapacity': ['storage.k8s.io/v1', asItWas],
  'autoscaling/v2beta1 HorizontalPodAutoscaler': ['autoscaling/v2', firstMetrics],
  'autoscaling/v2beta2 HorizontalPodAutoscaler': ['autoscaling/v2', asItWas],
}
