import {
  claimNameOfPod,
  formatQuantity,
  isTolerated,
  type Node,
  nodes,
  type Pod,
  podRequests,
  quantityToNumber,
  resourceClaimTemplates,
  type Taint,
} from '@coracle/api'
import { conditionOf, saidBy, sinceMs } from '../../conditions.ts'
import type { Facts } from '../../facts.ts'
import type { Diagnosis } from '../../finding.ts'

type PodFacts = Facts<Pod>

export const isAssigned = ({ spec }: Pod): boolean => (spec.nodeName ?? '') !== ''

export function gated({ object: { spec } }: PodFacts): Diagnosis | undefined {
  const gates = spec.schedulingGates ?? []
  if (gates.length === 0) return undefined
  return {
    reason: 'SchedulingGated',
    what: 'no node is looked for',
    because: `it has scheduling gates: ${gates.map(({ name }) => name).join(', ')}`,
    remedy: 'whoever set a gate takes it away when the pod may go on',
  }
}

interface Obstacle {
  readonly reason: string
  /** In the scheduler's own words, which are upstream's. */
  readonly pattern: RegExp
  remedy(facts: PodFacts, ...parts: readonly string[]): string
}

/** What keeps nodes from taking a pod. */
const obstacles: readonly Obstacle[] = [
  {
    reason: 'InsufficientResources',
    pattern: /Insufficient ([\w\-/]+(?:\.[\w\-/]+)*)/,
    remedy: (facts, resource = '') => moreOf(facts, resource),
  },
  {
    reason: 'TooManyPods',
    pattern: /Too many pods/,
    remedy: () => 'add a node, or end pods: a node takes so many and no more',
  },
  { reason: 'UntoleratedTaint', pattern: /untolerated taint/, remedy: taintRemedy },
  {
    reason: 'NodeSelectorMismatch',
    pattern: /didn't match Pod's node affinity\/selector/,
    remedy: ({ object: { spec } }) => {
      const wanted = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`)
      const label = wanted.length === 0 ? 'with the labels that its node affinity asks for' : wanted.join(' ')
      return `label a node ${label}, or change the node selector or affinity of the pod`
    },
  },
  {
    reason: 'NodeNameMismatch',
    pattern: /didn't match the requested node name/,
    remedy: () => 'name a node that there is',
  },
  {
    reason: 'NodesCordoned',
    pattern: /were unschedulable/,
    remedy: ({ some }) => {
      const cordoned = some(nodes).find(({ spec }) => spec?.unschedulable === true)
      return cordoned === undefined ? 'add a node' : `\`coracle uncordon ${cordoned.metadata.name}\`, or add a node`
    },
  },
  {
    reason: 'HostPortTaken',
    pattern: /didn't have free ports/,
    remedy: () => 'leave hostPort out, take another port, or add a node: a port of a node is for one pod',
  },
  {
    reason: 'PodAffinityMismatch',
    pattern: /didn't (?:match|satisfy) pod affinity/,
    remedy: () => 'start pods that its affinity asks for, or change the affinity',
  },
  {
    reason: 'PodAntiAffinityMismatch',
    pattern: /anti-affinity/,
    remedy: () =>
      'add a node, or change the anti-affinity: pods that it keeps away from are on every node that would take it',
  },
  {
    reason: 'TopologySpreadMismatch',
    pattern: /topology spread constraints \(missing required label\)/,
    remedy: ({ object: { spec } }) => {
      const keys = (spec.topologySpreadConstraints ?? [])
        .filter(({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway')
        .map(({ topologyKey }) => topologyKey)
      return `label nodes with ${[...new Set(keys)].join(' and ')}, by which the pods are to be spread, or spread them by another label`
    },
  },
  {
    reason: 'TopologySpreadMismatch',
    pattern: /topology spread constraints(?! \(missing required label\))/,
    remedy: () =>
      'add a node where there are too few of its kind, or say whenUnsatisfiable: ScheduleAnyway in its topology spread',
  },
  {
    reason: 'VolumeNodeMismatch',
    pattern: /volume node affinity conflict|no available volume zone/,
    remedy: () => 'its volume is bound to nodes that do not take the pod: make room there, or use another volume',
  },
  {
    reason: 'NoVolumeFound',
    pattern: /didn't find available persistent volumes/,
    remedy: () =>
      'create volumes that its claims can have, on nodes that take the pod: `coracle why pvc/NAME` says what one lacks',
  },
  {
    reason: 'ClaimUnbound',
    pattern: /unbound immediate PersistentVolumeClaims|persistentvolumeclaim "[^"]+" (?:not found|is being deleted)/,
    remedy: () => 'bind its claims: `coracle get pvc` shows them',
  },
  {
    reason: 'VolumeInUse',
    pattern: /ReadWriteOncePod|volumes? in use|no available disk/,
    remedy: () => 'end the pod that has the volume',
  },
  {
    reason: 'VolumeLimitReached',
    pattern: /exceed max volume count/,
    remedy: () => 'add a node: the others have as many volumes as they can',
  },
  {
    reason: 'DevicesTaken',
    pattern: /cannot allocate all claims/,
    remedy: () =>
      'end pods that have such devices, or add a node that has some: `coracle get resourceclaims` shows who has what, `coracle get resourceslices` what there is',
  },
  {
    reason: 'DeviceElsewhere',
    pattern: /resourceclaim not available on the node/,
    remedy: () => 'its claim has a device that can be used on other nodes: make room there, or use another claim',
  },
  {
    reason: 'ResourceClaimMissing',
    pattern: /could not find ResourceClaim "[^/"]*\/([^"]*)"/,
    remedy: (_, name = '') => `create resourceclaim/${name}, or name one that there is in spec.resourceClaims`,
  },
  {
    reason: 'DeviceClassMissing',
    pattern: /device class (\S+) does not exist/,
    remedy: (_, name = '') => `create deviceclass/${name}, as the driver of the devices brings it`,
  },
  {
    reason: 'ResourceClaimInUse',
    pattern: /resourceclaim in use/,
    remedy: () => 'end pods that use the claim: 256 may at a time',
  },
  {
    reason: 'DeviceSelectorFailed',
    pattern: /(class \S+|claim \S+): selector #(\d+): CEL runtime error/,
    remedy: (_, whose = '') =>
      `correct the selector of ${whose}: ask with has() for attributes that not every device has`,
  },
  {
    reason: 'NoNodes',
    pattern: /no nodes available/,
    remedy: () => 'start a node',
  },
]

/** What the scheduler said when it last looked for a node: that which most nodes have against the pod comes first. */
export function unschedulable(facts: PodFacts): Diagnosis | undefined {
  const { object: pod, some } = facts
  const condition = conditionOf(pod, 'PodScheduled')
  if (condition?.status !== 'False' || isAssigned(pod) || condition.reason === 'SchedulingGated') return undefined
  const message = saidBy(condition)
  // What follows is about giving back devices and removing other pods, and says once more what stands in the way.
  const [why = ''] = message.split(
    /\s*(?:(?:no new claims to deallocate|still not schedulable|deallocation of ResourceClaim completed), )?preemption: /i,
  )
  const found = obstacles.flatMap(({ reason, pattern, remedy }) => {
    const matches = [...why.matchAll(new RegExp(pattern, 'g'))]
    if (matches.length === 0) return []
    const counts = matches.map(({ index }) => Number(/(\d+) (?:node\(s\) )?[^,]*$/.exec(why.slice(0, index))?.[1] ?? 0))
    // A pod may lack several resources: more of one alone does not help.
    const remedies = new Set(matches.map((match) => remedy(facts, ...match.slice(1))))
    return [{ reason, remedy: [...remedies].join('; and '), nodesBefore: Math.max(...counts) }]
  })
  const [first, ...others] = found.toSorted((a, b) => b.nodesBefore - a.nodesBefore)
  const nominated = pod.status?.nominatedNodeName ?? ''
  if (nominated !== '') {
    return {
      reason: 'WaitsForPreemption',
      what: 'no node takes it yet',
      because: `other pods are removed from node ${nominated} to make room for it; before that: ${message}`,
      remedy: `it comes to ${nominated} when they have ended`,
      state: 'waiting',
    }
  }
  return {
    reason: first?.reason ?? condition.reason ?? 'Unschedulable',
    what: 'no node takes it',
    because: message,
    // Why a claim has no volume says more.
    ...(first?.reason === 'ClaimUnbound' ? { isSymptom: true } : {}),
    remedy: [first, ...others].flatMap((each) => each?.remedy ?? []).join('; or ') || unknownRemedy(some(nodes)),
  }
}

const unknownRemedy = (known: readonly Node[]): string =>
  known.length === 0 ? 'start a node' : 'give it what a node has, or add a node that has what it asks for'

/** Names what the pod asks for, and what the largest node has. */
function moreOf({ object: { spec }, all }: PodFacts, resource: string): string {
  const wanted = podRequests(spec).get(resource)
  const known = all(nodes) ?? []
  const amounts = known.flatMap(({ metadata, status }) => {
    const quantity = status?.allocatable?.[resource]
    return quantity === undefined ? [] : [{ name: metadata.name, quantity, amount: quantityToNumber(quantity) }]
  })
  const largest = amounts.toSorted((a, b) => b.amount - a.amount)[0]
  const asked = wanted === undefined ? '' : ` (it asks for ${formatQuantity(wanted)})`
  const most =
    largest === undefined
      ? ''
      : `; the largest node, ${largest.name}, has ${largest.quantity}, for all its pods together`
  return `ask for less ${resource} in resources.requests${asked}, end other pods, or add a node${most}`
}

function taintRemedy({ object: { spec }, some }: PodFacts): string {
  for (const { metadata, spec: nodeSpec } of some(nodes)) {
    const taint = nodeSpec?.taints?.find((each) => isUntolerated(each, spec.tolerations))
    if (taint === undefined) continue
    const text = taintText(taint)
    if (taint.key === 'node.kubernetes.io/unschedulable') return cordonRemedy(metadata.name, nodeSpec)
    if (taint.key?.startsWith('node.kubernetes.io/') === true)
      return `node ${metadata.name} is tainted ${text}: ask \`coracle why node/${metadata.name}\``
    return `tolerate ${text} in spec.tolerations, or take the taint away: \`coracle taint nodes ${metadata.name} ${text}-\``
  }
  return 'tolerate the taint in spec.tolerations, or take it away from a node'
}

/** A node that is no longer cordoned keeps the taint until it is taken away. */
function cordonRemedy(name: string | undefined, { unschedulable = false }: Node['spec'] = {}): string {
  return unschedulable
    ? `\`coracle uncordon ${name}\`, or add a node`
    : `node ${name} is uncordoned: the node-controller takes its taint away, if it runs`
}

export const isUntolerated = (taint: Taint, tolerations: Pod['spec']['tolerations']): boolean =>
  taint.effect !== 'PreferNoSchedule' && !isTolerated(taint, tolerations)

/** `gpu=true:NoSchedule`. */
export const taintText = ({ key, value = '', effect }: Taint): string =>
  `${key}${value === '' ? '' : `=${value}`}:${effect}`

/** Claims of the pod are to be made from a template that is not there. */
export function templateMissing({ object: pod, all }: PodFacts): Diagnosis | undefined {
  const known = all(resourceClaimTemplates)
  if (known === undefined || isAssigned(pod) || pod.metadata.deletionTimestamp !== undefined) return undefined
  const missing = (pod.spec.resourceClaims ?? []).find(
    (each) =>
      claimNameOfPod(pod, each) === 'not-made' &&
      !known.some(({ metadata }) => metadata.name === each.resourceClaimTemplateName),
  )
  if (missing === undefined) return undefined
  const { name, resourceClaimTemplateName: template } = missing
  return {
    reason: 'ResourceClaimTemplateMissing',
    what: 'no node is looked for',
    because: `claim ${name} is to be made from resource claim template ${template}, which is not there`,
    remedy: `create resourceclaimtemplate/${template}, or name one that there is in spec.resourceClaims`,
  }
}

/** A scheduler has looked at a pod well before so many milliseconds, if it runs. */
const lookedAtAfterMs = 10_000

/** Nobody has said anything of a node for the pod. */
export function notLookedAt({ object: pod, nowMs }: PodFacts): Diagnosis | undefined {
  const { metadata, spec } = pod
  if (isAssigned(pod) || conditionOf(pod, 'PodScheduled') !== undefined || pod.status?.phase !== 'Pending')
    return undefined
  if ((spec.schedulingGates ?? []).length > 0) return undefined
  const ageMs = sinceMs(metadata.creationTimestamp, nowMs)
  const name = spec.schedulerName ?? 'default-scheduler'
  const isFresh = ageMs < lookedAtAfterMs
  return {
    reason: isFresh ? 'NotScheduledYet' : 'SchedulerSilent',
    what: 'it has no node yet',
    because: `scheduler ${name} has not said anything of it`,
    remedy: isFresh ? 'it is new: the scheduler comes to it in a moment' : `see that scheduler ${name} runs`,
    state: isFresh ? 'waiting' : 'stuck',
  }
}
