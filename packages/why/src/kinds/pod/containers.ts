import {
  type Container,
  type ContainerStatus,
  type Event,
  humanDuration,
  type Pod,
  type Probe,
  parseTime,
} from '@coracle/api'
import { lastSeenMs, latestOf } from '../../events.ts'
import type { Facts } from '../../facts.ts'
import type { Diagnosis } from '../../finding.ts'

type PodFacts = Facts<Pod>

/** A container of a pod, with what its node says of it. */
interface PodContainer {
  /** `container main`, `init container setup`. */
  readonly title: string
  readonly isInit: boolean
  readonly spec: Container
  readonly status: ContainerStatus
}

/** In the order in which they start. */
function containersOf({ spec, status }: Pod): readonly PodContainer[] {
  const pair = (containers: readonly Container[], statuses: readonly ContainerStatus[], isInit: boolean) =>
    containers.flatMap((container): readonly PodContainer[] => {
      const own = statuses.find(({ name }) => name === container.name)
      const title = `${isInit ? 'init container' : 'container'} ${container.name}`
      return own === undefined ? [] : [{ title, isInit, spec: container, status: own }]
    })
  return [
    ...pair(spec.initContainers ?? [], status?.initContainerStatuses ?? [], true),
    ...pair(spec.containers, status?.containerStatuses ?? [], false),
  ]
}

interface Obstacle {
  readonly reason: string
  readonly what: string
  readonly remedy: string
}

const pulled: Obstacle = {
  reason: 'ImageNotPulled',
  what: 'its image cannot be had',
  remedy:
    'see that the image exists under that name, that the node reaches its registry, and that imagePullSecrets let it in',
}

/** What is wrong with a container that has never begun, by the reason it waits for. */
const obstacles: Readonly<Record<string, Obstacle>> = {
  ErrImagePull: pulled,
  ImagePullBackOff: pulled,
  ImageInspectError: pulled,
  RegistryUnavailable: pulled,
  ErrImageNeverPull: { ...pulled, remedy: 'bring the image to the node, or let it be pulled: imagePullPolicy' },
  InvalidImageName: { ...pulled, reason: 'ImageNameInvalid', remedy: 'correct the name of the image' },
  CreateContainerConfigError: {
    reason: 'ContainerConfigInvalid',
    what: 'it cannot be made from its configuration',
    remedy: 'correct what the message names in the pod, or in the template that makes it',
  },
  CreateContainerError: {
    reason: 'ContainerNotCreated',
    what: 'it cannot be made',
    remedy: 'correct what the container runs: its image, command and mounts',
  },
  RunContainerError: {
    reason: 'ContainerNotStarted',
    what: 'it cannot start',
    remedy: 'correct what the container runs: its image and command',
  },
  PostStartHookError: {
    reason: 'PostStartHookFailed',
    what: 'its postStart hook fails',
    remedy: 'correct lifecycle.postStart: a container whose hook fails is ended',
  },
}

/** A configuration lacks something that is to be had from elsewhere. */
const lacksSource = /(?:(configmap|secret)s? "([^"]+)" not found|couldn't find key (\S+) in (ConfigMap|Secret) (\S+))/i

/** An image says nothing of what to run, and neither does the container. */
const lacksCommand = /no command specified|command is required|has no command|no command/i

export function cannotStart({ object }: PodFacts): Diagnosis | undefined {
  for (const { title, status, spec } of containersOf(object)) {
    const { reason = '', message = '' } = status.state?.waiting ?? {}
    const obstacle = obstacles[reason]
    if (obstacle === undefined) continue
    const because = message === '' ? `${reason}, image ${spec.image}` : `${reason}: ${message}`
    return { ...obstacle, what: `${title}: ${obstacle.what}`, because, ...remedyFor(message) }
  }
  return undefined
}

function remedyFor(message: string): Partial<Diagnosis> {
  const source = lacksSource.exec(message)
  if (source !== null) {
    const [, kind, name, key, keyKind, keyName] = source
    const remedy =
      key === undefined
        ? `create ${kind?.toLowerCase()}/${name}, or correct the name`
        : `add key ${key} to ${keyKind?.toLowerCase()}/${keyName?.split('/').at(-1)}, or correct the name and the key`
    return { reason: 'ConfigurationMissing', remedy }
  }
  if (lacksCommand.test(message)) {
    return {
      reason: 'CommandMissing',
      remedy: 'say what to run: spec.containers[].command, or with up --images what the image is',
    }
  }
  return {}
}

/** What exit codes mean by custom, where the container's own reason says less. */
const exitCodes: Readonly<Record<number, string>> = {
  126: 'its command is there and cannot be executed: see its permissions',
  127: 'its command is not found: correct spec.containers[].command or the image',
  137: 'it was killed: by its memory limit, by a probe, or from outside; see its limits and its probes',
  139: 'it has crashed with a segmentation fault: read its logs',
  143: 'it was asked to end (SIGTERM): see what ends it',
}

/** A container that ends again and again. */
export function crashLoops(facts: PodFacts): Diagnosis | undefined {
  const { object: pod } = facts
  const looping = containersOf(pod).find(({ status }) => status.state?.waiting?.reason === 'CrashLoopBackOff')
  if (looping === undefined) return undefined
  const { title, spec, status } = looping
  const { exitCode, reason = 'Error', message = '' } = status.lastState?.terminated ?? {}
  const lastWords = message === '' ? '' : `: ${message.trim()}`
  const logs = `\`coracle logs ${pod.metadata.name} -c ${status.name} --previous\``
  const because = `it has been restarted ${times(status.restartCount)}, and ended last with exit code ${exitCode ?? 'unknown'} (${reason})${lastWords}`
  if (reason === 'OOMKilled') {
    const limit = spec.resources?.limits?.memory
    return {
      reason: 'OutOfMemory',
      what: `${title} is ended for the memory it uses`,
      because,
      remedy: `raise resources.limits.memory of ${status.name}${limit === undefined ? '' : ` (now ${limit})`}, or let it use less`,
    }
  }
  const ended = endedByProbe(facts, looping)
  if (ended !== undefined) {
    return {
      reason: `${ended.kind}ProbeFailed`,
      what: `${title} is ended since its probe fails`,
      because: `${ended.said}; ${because}`,
      remedy: `correct what the probe asks for, give it more time, or see in ${logs} why it does not answer`,
    }
  }
  return {
    reason: 'CrashLoop',
    what: `${title} ends as soon as it starts`,
    because,
    remedy: `${exitCodes[exitCode ?? 0] === undefined ? '' : `${exitCodes[exitCode ?? 0]}; `}read ${logs}`,
  }
}

/** The probe for which a container was ended the last time, with what its failure says: others may have failed before, or of other containers. */
function endedByProbe(
  facts: PodFacts,
  { status: { name, lastState } }: PodContainer,
): { readonly kind: ProbeKind; readonly said: string } | undefined {
  const sinceMs = parseTime(lastState?.terminated?.startedAt ?? '')
  for (const kind of ['Liveness', 'Startup'] as const) {
    const killing = facts.events.findLast(
      ({ reason, message = '' }) =>
        reason === 'Killing' && message.startsWith(`Container ${name} failed ${kind.toLowerCase()} probe`),
    )
    if (killing === undefined || lastSeenMs(killing) < sinceMs) continue
    return { kind, said: failureOf(facts, kind, name)?.message ?? `${killing.message}` }
  }
  return undefined
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** The latest event of a failed probe of a kind: of one container, where the event says which it is about. */
function failureOf({ events }: PodFacts, kind: ProbeKind, container?: string): Event | undefined {
  return events.findLast(({ reason, message = '', involvedObject: { fieldPath } = {} }) => {
    if (reason !== 'Unhealthy' || !message.startsWith(`${kind} probe`)) return false
    return container === undefined || fieldPath === undefined || fieldPath.endsWith(`{${container}}`)
  })
}

/** Init containers run one after the other, and all others after them. */
export function initializing({ object, nowMs }: PodFacts): Diagnosis | undefined {
  const running = containersOf(object).find(
    ({ isInit, spec, status }) => isInit && spec.restartPolicy !== 'Always' && status.state?.running !== undefined,
  )
  if (running === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  const { startedAt } = running.status.state?.running ?? {}
  const forMs = startedAt === undefined ? undefined : nowMs - parseTime(startedAt)
  return {
    reason: 'Initializing',
    what: `${running.title} has not ended yet: those after it wait`,
    because: forMs === undefined ? 'it runs' : `it has been running for ${humanDuration(forMs)}`,
    remedy: `see what it waits for: \`coracle logs ${object.metadata.name} -c ${running.status.name}\``,
    state: 'waiting',
  }
}

/** What a node says when it has come past the volumes and the sandbox of a pod. */
const pastPreparation = ['Pulling', 'Pulled', 'Created', 'Started']

const preparationFailures = [
  'FailedMount',
  'FailedAttachVolume',
  'FailedCreatePodSandBox',
  'FailedPrepareDynamicResources',
]

/** Containers are yet to be made, and what they need is not there. */
export function starting({ object, events }: PodFacts): Diagnosis | undefined {
  const waiting = containersOf(object).find(({ status }) => isCreating(status))
  if (waiting === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  const failed = latestOf(events, preparationFailures, pastPreparation)
  if (failed === undefined) return undefined
  const { message = '', reason = '' } = failed
  if (reason === 'FailedPrepareDynamicResources') {
    return {
      reason: 'DevicesNotPrepared',
      what: 'its devices cannot be used yet',
      because: message,
      remedy: 'run the pod on a node that has the driver of its devices: simulated nodes run as if they had it',
    }
  }
  const missing = remedyFor(message)
  return {
    reason: missing.reason ?? (reason === 'FailedCreatePodSandBox' ? 'SandboxNotCreated' : 'VolumeNotMounted'),
    what: reason === 'FailedCreatePodSandBox' ? 'its node cannot make room for it' : 'a volume cannot be mounted',
    because: message,
    remedy: missing.remedy ?? 'correct what the message names: its node tries again by itself',
  }
}

const isCreating = ({ state }: ContainerStatus): boolean =>
  state?.waiting?.reason === 'ContainerCreating' || state?.waiting?.reason === 'PodInitializing'

/** Containers run, and some is not ready. */
export function notReady(facts: PodFacts): Diagnosis | undefined {
  const { object: pod } = facts
  if (pod.status?.phase !== 'Running' || pod.metadata.deletionTimestamp !== undefined) return undefined
  const unready = containersOf(pod).find(
    ({ isInit, status }) => !isInit && !status.ready && status.state?.running !== undefined,
  )
  if (unready === undefined) return unmetGate(facts)
  const { title, spec, status } = unready
  const kind = status.started === false ? 'Startup' : 'Readiness'
  const probe = kind === 'Startup' ? spec.startupProbe : spec.readinessProbe
  const failure = failureSinceStart(facts, unready, kind)
  const what = `${title} runs and is not ready: no Service sends it anything`
  if (failure !== undefined && hasFailed(facts, unready, kind, failure)) {
    return {
      reason: `${kind}ProbeFailed`,
      what,
      because: failure.message ?? `its ${kind.toLowerCase()} probe fails`,
      remedy: `see what the ${kind.toLowerCase()} probe asks for, and what the container answers: \`coracle logs ${pod.metadata.name} -c ${status.name}\``,
    }
  }
  const named = `its ${kind.toLowerCase()} probe`
  return {
    reason: 'NotReadyYet',
    what,
    because:
      probe === undefined
        ? 'its node has not called it ready yet'
        : failure === undefined
          ? `${named} has not succeeded yet`
          : `${named} has not succeeded in the ${humanDuration(ageMs(facts, status))} since it started (${failure.message}): ${paceOf(probe)}`,
    remedy: 'it becomes ready when the probe succeeds',
    state: 'waiting',
  }
}

type ProbeKind = 'Readiness' | 'Liveness' | 'Startup'

const startedAtMs = ({ state }: ContainerStatus): number => parseTime(state?.running?.startedAt ?? '')

const ageMs = ({ nowMs }: PodFacts, status: ContainerStatus): number => Math.max(0, nowMs - startedAtMs(status))

const failureThresholdOf = ({ failureThreshold = 3 }: Probe): number => failureThreshold

/** How often a probe is made, and how often it has to fail before that counts. */
function paceOf(probe: Probe): string {
  const count = failureThresholdOf(probe)
  return `it is asked every ${probe.periodSeconds ?? 10} s${count === 1 ? '' : `, and ${count} failures in a row count`}`
}

/** The latest failure of a probe, if the container runs since before it. */
function failureSinceStart(facts: PodFacts, { status }: PodContainer, kind: ProbeKind): Event | undefined {
  const failure = failureOf(facts, kind, status.name)
  return failure === undefined || startedAtMs(status) > lastSeenMs(failure) ? undefined : failure
}

/**
 * A probe has failed when it did so as often in a row as its threshold says: until a container has run for so long, it
 * merely starts, and whoever is not ready then has not been. Probes for readiness begin after the one for the start; one of
 * that kind ends a container that it has failed, so that it fails for good where it has done so before.
 */
function hasFailed(facts: PodFacts, container: PodContainer, kind: ProbeKind, failure: Event): boolean {
  const { spec, status } = container
  const probe = kind === 'Startup' ? spec.startupProbe : spec.readinessProbe
  if (probe === undefined || status.state?.running?.startedAt === undefined) return true
  if (kind === 'Startup' && status.restartCount > 0 && endedByStartupProbe(facts, status.name)) return true
  const { initialDelaySeconds = 0, periodSeconds = 10 } = probe
  const countedMs = (initialDelaySeconds + failureThresholdOf(probe) * periodSeconds) * 1000
  if (ageMs(facts, status) < countedMs) return false
  if (kind === 'Startup' || spec.startupProbe === undefined) return true
  const firstMs = parseTime(failure.firstTimestamp ?? '')
  const isFirstOfRun = firstMs >= startedAtMs(status)
  return !isFirstOfRun || facts.nowMs - firstMs >= (failureThresholdOf(probe) - 1) * periodSeconds * 1000
}

const endedByStartupProbe = ({ events }: PodFacts, container: string): boolean =>
  events.some(
    ({ reason, message = '' }) =>
      reason === 'Killing' && message.startsWith(`Container ${container} failed startup probe`),
  )

/** Somebody else has to call the pod ready as well. */
function unmetGate({ object: { spec, status } }: PodFacts): Diagnosis | undefined {
  const holds = (type: string) =>
    status?.conditions?.some((each) => each.type === type && each.status === 'True') === true
  const gate = (spec.readinessGates ?? []).find(({ conditionType }) => !holds(conditionType))
  if (gate === undefined || !holds('ContainersReady')) return undefined
  return {
    reason: 'ReadinessGateNotMet',
    what: 'its containers are ready, and it is not: no Service sends it anything',
    because: `it has the readiness gate ${gate.conditionType}, and its condition of that name is not True`,
    remedy: `whoever looks after ${gate.conditionType} sets the condition: see that it runs`,
  }
}

/** The first of its containers that has ended with an error: `container main ended with exit code 1 (Error)`. */
export function failedContainer(
  pod: Pod,
): { readonly because: string; readonly diagnosis: Partial<Diagnosis> } | undefined {
  const failed = containersOf(pod).find(({ status }) => (status.state?.terminated?.exitCode ?? 0) !== 0)
  if (failed === undefined) return undefined
  const { title, status, spec } = failed
  const { exitCode = 0, reason = '', message = '' } = status.state?.terminated ?? {}
  const lastWords = message === '' ? '' : `: ${message.trim()}`
  const because = `${title} ended with exit code ${exitCode}${reason === '' ? '' : ` (${reason})`}${lastWords}`
  const logs = `read \`coracle logs ${pod.metadata.name} -c ${status.name}\``
  if (reason === 'OOMKilled') {
    const limit = spec.resources?.limits?.memory
    const remedy = `raise resources.limits.memory of ${status.name}${limit === undefined ? '' : ` (now ${limit})`}, or let it use less`
    return { because, diagnosis: { reason: 'OutOfMemory', remedy } }
  }
  const hint = exitCodes[exitCode]
  return { because, diagnosis: { reason: 'ContainerFailed', remedy: hint === undefined ? logs : `${hint}; ${logs}` } }
}
