import { builtinResources, type HorizontalPodAutoscaler, type KubernetesObject, type Resource } from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

type ScalerFacts = Facts<HorizontalPodAutoscaler>

export const autoscalerRules: KindRules<HorizontalPodAutoscaler> = {
  reads: (autoscaler) => {
    const resource = targetResource(autoscaler)
    if (resource === undefined) return []
    const { name } = autoscaler.spec.scaleTargetRef
    return [{ resource, namespace: autoscaler.metadata.namespace, fieldSelector: `metadata.name=${name}` }]
  },
  rules: [notSeen, targetMissing, notAble, inactive, limited, stabilized],
  leads: unreadyTarget,
}

/** The resource of what it scales, where that is a built-in kind. */
function targetResource({ spec }: HorizontalPodAutoscaler): Resource | undefined {
  const { apiVersion = '', kind } = spec.scaleTargetRef
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  return builtinResources.find((resource) => resource.kind === kind && resource.group === group)
}

const targetOf = ({ spec: { scaleTargetRef } }: HorizontalPodAutoscaler): string =>
  `${scaleTargetRef.kind.toLowerCase()}/${scaleTargetRef.name}`

/** Its controller looks every 15 s. */
function notSeen({ object }: ScalerFacts): Diagnosis | undefined {
  if ((object.status?.conditions ?? []).length > 0) return undefined
  return {
    reason: 'NotObserved',
    what: 'it does not scale yet',
    because: 'its controller has said nothing of it so far',
    remedy: 'it looks every 15 seconds: ask again, or see that the controllers run',
    state: 'waiting',
  }
}

function targetMissing({ object, all }: ScalerFacts): Diagnosis | undefined {
  const resource = targetResource(object)
  const known = resource === undefined ? undefined : all(resource)
  if (known === undefined || known.length > 0) return undefined
  return {
    reason: 'TargetMissing',
    what: 'it does not scale',
    because: `there is no ${targetOf(object)} in namespace ${object.metadata.namespace}`,
    remedy: `create ${targetOf(object)}, or correct spec.scaleTargetRef`,
  }
}

function notAble(facts: ScalerFacts): Diagnosis | undefined {
  const condition = conditionOf(facts.object, 'AbleToScale')
  if (condition?.status !== 'False' || targetMissing(facts) !== undefined) return undefined
  return {
    reason: condition.reason || 'UnableToScale',
    what: 'it does not scale',
    because: saidBy(condition),
    remedy: `see that ${targetOf(facts.object)} is there, and that its number of replicas may be changed`,
  }
}

/** A container without a request has no utilization. */
const missingRequest = /missing request for (\S+) in container (\S+) of Pod (\S+)/

function inactive(facts: ScalerFacts): Diagnosis | undefined {
  const { object, events } = facts
  const condition = conditionOf(object, 'ScalingActive')
  if (condition?.status !== 'False' || targetMissing(facts) !== undefined) return undefined
  const target = targetOf(object)
  const failed = {
    reason: condition.reason || 'ScalingInactive',
    what: 'it does not scale',
    because: saidBy(condition),
  }
  if (condition.reason === 'ScalingDisabled') {
    return { ...failed, remedy: `\`coracle scale ${target} --replicas=1\`: an autoscaler leaves a target at 0 alone` }
  }
  // The event may name the pod where the condition names the metric alone.
  const said = [failed.because, ...events.toReversed().map(({ message = '' }) => message)]
  const match = said.map((text) => missingRequest.exec(text)).find((found) => found !== null)
  if (match !== undefined && match !== null) {
    const [because, resource, container] = match
    const remedy = `set resources.requests.${resource} of container ${container} in the template of ${target}: utilization is measured against it`
    return {
      ...failed,
      reason: 'RequestMissing',
      because: failed.because.includes(because) ? failed.because : `${failed.because}: ${because}`,
      remedy,
    }
  }
  return { ...failed, remedy: metricsRemedy(failed.reason, failed.because, target) }
}

function metricsRemedy(reason: string, because: string, target: string): string {
  if (/^(Invalid|Ambiguous)Selector/.test(reason))
    return `correct the selector of ${target}: no other autoscaler may have its pods`
  if (/no (?:metrics|pods)|did not receive metrics|unready/i.test(because))
    return `see that ${target} has pods that are ready: \`coracle why ${target}\`; metrics of new pods come after a while`
  if (/External/.test(reason)) return 'see that the external metrics API has this metric: `coracle get apiservices`'
  if (/Object|PodsMetric/.test(reason))
    return 'see that the custom metrics API has this metric: `coracle get apiservices`'
  return 'see that metrics can be had: `coracle top pods`'
}

/** A limit it keeps, where it would have another number. */
const limits: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  TooManyReplicas: ['it wants more replicas than it may have', 'raise spec.maxReplicas'],
  TooFewReplicas: ['it wants fewer replicas than it may have', 'lower spec.minReplicas'],
  ScaleUpLimit: ['it grows more slowly than it wants', 'it goes on by itself; spec.behavior.scaleUp says how fast'],
  ScaleDownLimit: [
    'it shrinks more slowly than it wants',
    'it goes on by itself; spec.behavior.scaleDown says how fast',
  ],
}

function limited(facts: ScalerFacts): Diagnosis | undefined {
  const { object } = facts
  const condition = conditionOf(object, 'ScalingLimited')
  if (condition?.status !== 'True' || conditionOf(object, 'ScalingActive')?.status === 'False') return undefined
  const { reason = '' } = condition
  const [what, remedy] = limits[reason] ?? [
    'it is held back',
    'see spec.minReplicas, spec.maxReplicas and spec.behavior',
  ]
  const { minReplicas = 1, maxReplicas } = object.spec
  return {
    reason,
    what,
    because: `${saidBy(condition)}; spec allows ${minReplicas} to ${maxReplicas}`,
    remedy,
    state: reason === 'TooManyReplicas' ? 'stuck' : reason === 'TooFewReplicas' ? 'hint' : 'waiting',
  }
}

function stabilized({ object }: ScalerFacts): Diagnosis | undefined {
  const condition = conditionOf(object, 'AbleToScale')
  if (condition?.status !== 'True') return undefined
  const isDown = condition.reason === 'ScaleDownStabilized'
  if (!isDown && condition.reason !== 'ScaleUpStabilized') return undefined
  const rules = isDown ? object.spec.behavior?.scaleDown : object.spec.behavior?.scaleUp
  const seconds = rules?.stabilizationWindowSeconds ?? (isDown ? 300 : 0)
  return {
    reason: condition.reason,
    what: isDown ? 'it does not shrink yet' : 'it does not grow yet',
    because: `${saidBy(condition)}; its window is ${seconds} s`,
    remedy: `it goes on when the window has passed; spec.behavior.${isDown ? 'scaleDown' : 'scaleUp'}.stabilizationWindowSeconds says how long`,
    state: 'waiting',
  }
}

/** Without metrics its target may have no pods that are ready. */
function unreadyTarget({ object, some }: ScalerFacts): readonly KubernetesObject[] {
  const resource = targetResource(object)
  const isInactive = conditionOf(object, 'ScalingActive')?.status === 'False'
  return resource === undefined || !isInactive || object.status?.currentReplicas === 0 ? [] : some(resource)
}
