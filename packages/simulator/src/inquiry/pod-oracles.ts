import { type Event, type Pod, parseTime } from '@coracle/api'
import type { Finding } from '@coracle/why'
import { hasEnded, isReady } from '../view.ts'
import { conditionOf, isGoing, nodeNamed, type Oracle, says, taintsOf, unless, type World } from './oracle.ts'

const ofPod =
  (check: (pod: Pod, finding: Finding, world: World) => string | undefined): Oracle =>
  (finding, object, world) =>
    check(object as Pod, finding, world)

const unassigned = ofPod((pod, finding, world) => {
  if ((pod.spec.nodeName ?? '') !== '') return `it is on ${pod.spec.nodeName}`
  return says('PodScheduled', 'False')(finding, pod, world) ?? falseAdvice(finding, world)
})

/** A taint that is to be taken away is there, and so is a node that is to be uncordoned. */
function falseAdvice({ remedy }: Finding, world: World): string | undefined {
  const named = /`coracle taint nodes (\S+) (\S+)-`/.exec(remedy)
  const node = nodeNamed(world, named?.[1])
  const taints = taintsOf(node)
  if (named !== null && !taints.includes(named[2] ?? '')) return `node ${named[1]} is not tainted ${named[2]}`
  const cordoned = /`coracle uncordon (\S+)`/.exec(remedy)?.[1]
  const wanted = nodeNamed(world, cordoned)
  return cordoned === undefined || wanted?.spec?.unschedulable === true ? undefined : `node ${cordoned} is not cordoned`
}

const isOnReadyNode = ({ spec }: Pod, world: World): boolean => {
  const node = nodeNamed(world, spec.nodeName)
  return node !== undefined && conditionOf(node, 'Ready')?.status === 'True'
}

const onBadNode = ofPod((pod, _, world) => unless(!isOnReadyNode(pod, world), 'its node is ready'))

const containersOf = ({ status }: Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]

const failedContainer = ofPod((pod, { because }) => {
  const codes = containersOf(pod).map(({ state }) => state?.terminated?.exitCode ?? 0)
  if (pod.status?.phase !== 'Failed') return `it is ${pod.status?.phase}`
  return unless(
    codes.some((code) => code !== 0 && because.includes(`exit code ${code}`)),
    `its exit codes are ${codes}`,
  )
})

/** The node has said what the pod lacks, and has not come past that: then it would fetch images, and make containers. */
const notPrepared = (...reasons: readonly string[]): Oracle =>
  ofPod((pod, finding, world) => {
    if (!containersOf(pod).some(({ state }) => state?.waiting !== undefined)) return 'no container of it waits'
    const events = world.log.eventsAbout(pod.metadata.uid ?? '')
    const told = events.filter(({ message, reason = '' }) => message === finding.because && reasons.includes(reason))
    if (told.length === 0) return 'no event says so'
    const lastMs = Math.max(...told.map(lastSeenMs))
    return unless(
      !events.some((event) => event.reason === 'Pulled' && lastSeenMs(event) > lastMs),
      'its node has come past that',
    )
  })

const lastSeenMs = ({ lastTimestamp = '' }: Event): number => parseTime(lastTimestamp)

/** A pod that has failed says itself by what: a node that does not admit it names the check, with words of its own. */
export const failedBy: Oracle = ofPod(({ status }, { reason, because }) => {
  if (status?.phase !== 'Failed' || status.reason !== reason) return 'nobody here knows whether that is true'
  return unless(because === (status.message || status.reason), `it says: ${status.message}`)
})

const ignored = ofPod((pod) =>
  unless((pod.spec.nodeName ?? '') === '' && conditionOf(pod, 'PodScheduled') === undefined, 'it was looked at'),
)

/** Findings about pods, by their reasons. */
export const podOracles: Readonly<Record<string, Oracle>> = {
  ...Object.fromEntries(
    [
      'InsufficientResources',
      'TooManyPods',
      'UntoleratedTaint',
      'NodeSelectorMismatch',
      'NodesCordoned',
      'NodeNameMismatch',
      'HostPortTaken',
      'PodAffinityMismatch',
      'PodAntiAffinityMismatch',
      'TopologySpreadMismatch',
      'DevicesTaken',
      'DeviceElsewhere',
      'DeviceClassMissing',
      'DeviceSelectorFailed',
      'ResourceClaimInUse',
      'ResourceClaimMissing',
      'Unschedulable',
      'SchedulerError',
      'WaitsForPreemption',
    ].map((reason) => [reason, unassigned]),
  ),
  // Of a DaemonSet, too.
  NoNodes: (finding, object, world) =>
    object.kind === 'Pod'
      ? unassigned(finding, object, world)
      : unless(world.view.list('Node').length === 0, 'there are nodes'),
  ResourceClaimTemplateMissing: ofPod(({ metadata: { namespace }, spec }, { because }, { view }) => {
    if ((spec.nodeName ?? '') !== '') return `it is on ${spec.nodeName}`
    const named = spec.resourceClaims?.find(
      ({ name, resourceClaimTemplateName: template }) =>
        because === `claim ${name} is to be made from resource claim template ${template}, which is not there`,
    )
    if (named === undefined) return 'it has no such claim'
    const template = view.find('ResourceClaimTemplate', namespace ?? '', named.resourceClaimTemplateName ?? '')
    return unless(template === undefined, 'the template is there')
  }),
  NotScheduledYet: ignored,
  SchedulerSilent: ignored,
  Ending: ofPod((pod, _, world) =>
    isOnReadyNode(pod, world)
      ? unless(isGoing(pod) && !hasEnded(pod), 'it is not being deleted, or has ended')
      : 'its node is not ready',
  ),
  EndingOverdue: ofPod((pod) => unless(isGoing(pod) && !hasEnded(pod), 'it is not being deleted, or has ended')),
  NodeLost: ofPod(
    (pod, finding, world) => unless(!isGoing(pod), 'it is being deleted') ?? onBadNode(finding, pod, world),
  ),
  NodeSilent: (finding, object, world) =>
    object.kind === 'Pod' ? onBadNode(finding, object, world) : says('Ready', 'Unknown')(finding, object, world),
  NotTakenOn: ofPod((pod) =>
    unless((pod.spec.nodeName ?? '') !== '' && pod.status?.startTime === undefined, 'its node has taken it on'),
  ),
  Initializing: ofPod((pod) =>
    unless(
      containersOf(pod).some(({ state }) => state?.running !== undefined),
      'nothing of it runs',
    ),
  ),
  VolumeNotMounted: notPrepared('FailedMount', 'FailedAttachVolume'),
  SandboxNotCreated: notPrepared('FailedCreatePodSandBox'),
  NotReadyYet: ofPod((pod) => unless(pod.status?.phase === 'Running' && !isReady(pod), 'it does not run, or is ready')),
  Starting: ofPod((pod) => unless(!isReady(pod) && !hasEnded(pod), 'it is ready, or has ended')),
  CrashLoop: ofPod((pod, { because }) =>
    unless(
      containersOf(pod).some(
        ({ state, restartCount }) =>
          state?.waiting?.reason === 'CrashLoopBackOff' &&
          because.includes(restartCount === 1 ? 'restarted once' : `restarted ${restartCount} times`),
      ),
      'no container waits so',
    ),
  ),
  ContainerFailed: failedContainer,
  OutOfMemory: failedContainer,
  PodFailed: ofPod((pod) => unless(pod.status?.phase === 'Failed', 'it has not failed')),
  ...Object.fromEntries(
    ['Evicted', 'EvictedByTaint', 'Preempted', 'NodeGone', 'EvictedByNode', 'Disrupted'].map((reason) => [
      reason,
      ofPod((pod: Pod) => unless(conditionOf(pod, 'DisruptionTarget')?.status === 'True', 'it is not disrupted')),
    ]),
  ),
}
