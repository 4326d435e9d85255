import { type Pod, pods as podResource, type StatefulSet } from '@coracle/api'
import type { Action, WriteEvents } from '@coracle/controller-runtime'
import { podKey } from '../pods/pod-key.ts'
import { hasEnded } from '../pods/pod-state.ts'
import {
  alignClaims,
  type ClaimLookup,
  type ClaimPatch,
  createMissingClaims,
  goingClaims,
  hasStaleClaim,
  hasVolumes,
  tellConflicts,
  volumesOf,
} from './claims.ts'
import { type Health, isGoing } from './health.ts'
import { desiredOf, firstOrdinal, podIndexLabel, podName, podNameLabel } from './identity.ts'
import type { Member, Members, Place } from './members.ts'
import { partition, revisionOf, statefulPod, type Versions } from './versions.ts'

/** Pods made for one stateful set at a time, at most (upstream's MaxBatchSize). The rest follows at once. */
export const creationsMax = 500

/** What steps are planned from. */
export interface StepInput {
  readonly set: StatefulSet
  readonly versions: Versions
  readonly members: Members
  readonly health: Health
  readonly claim: ClaimLookup
}

/** What to do about one or all places; with `isWaiting` nothing after it may be done yet. */
interface Step {
  readonly actions: readonly Action[]
  readonly isWaiting: boolean
}

export interface Steps {
  readonly actions: readonly Action[]
  /** The pod of a former template that the actions delete. */
  readonly outdated?: Pod
}

/**
 * What is to be done now: first every place gets its pod, then what is too much goes, then old pods become new ones. In order a
 * pod comes only when all before it are available, and goes only when all others are; in parallel nothing waits (upstream's
 * updateStatefulSet).
 */
export function nextSteps(input: StepInput): Steps {
  const isOrdered = (input.set.spec.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady'
  const { places, condemned } = input.members
  const filled = through(places, (place) => chained(place, fill(input, place, isOrdered), isOrdered), isOrdered)
  if (filled.isWaiting) return { actions: filled.actions }
  const aligned = condemned.flatMap(({ ordinal, pod }) => {
    const changed = alignClaims(input.set, ordinal, pod, input.claim)
    return changed.length === 0 ? [] : [...changed, ...tellConflicts(input.set, ordinal, pod, input.claim)]
  })
  const before = [...filled.actions, ...aligned]
  // In order all places are healthy by now.
  const firstUnhealthy = condemned.findLast(({ pod }) => !input.health.isHealthy(pod))?.pod
  const emptied = through(condemned, (member) => remove(input, member, isOrdered, firstUnhealthy), isOrdered)
  const actions = [...before, ...emptied.actions]
  const outdated = emptied.isWaiting ? undefined : nextOutdated(input)
  if (outdated === undefined) return { actions }
  return { actions: [...actions, deletion(input.set, outdated, 'the pod is of a former template')], outdated }
}

/**
 * One after the other up to the first that waits; in parallel as many as may be made at a time, and what waits holds up what comes after
 * them all.
 */
function through<P>(subjects: Iterable<P>, stepOf: (subject: P) => Step, isOrdered: boolean): Step {
  const steps: Step[] = []
  let creations = 0
  for (const subject of subjects) {
    const step = stepOf(subject)
    steps.push(step)
    if (step.actions.some(isCreationOfPod)) creations += 1
    if ((step.isWaiting && isOrdered) || creations === creationsMax) break
  }
  const actions = steps.flatMap((step) => step.actions)
  // Claims before pods, and each kind at once.
  const claims = actions.filter(isOfClaims)
  const others = actions.filter((action) => !isOfClaims(action))
  return { actions: [...claims, ...others], isWaiting: isOrdered && steps.some(({ isWaiting }) => isWaiting) }
}

/** What is done for one place. In parallel no other place waits for it: one whose claim is refused is without a pod alone. */
function chained({ ordinal }: Place, step: Step, isOrdered: boolean): Step {
  if (isOrdered) return step
  return { ...step, actions: step.actions.map((action) => ({ ...action, chain: String(ordinal) })) }
}

const waiting: Step = { actions: [], isWaiting: true }

function fill({ set, versions, health, claim }: StepInput, { ordinal, pod }: Place, isOrdered: boolean): Step {
  if (pod === undefined) {
    if (hasStaleClaim(set, ordinal, claim)) return waiting
    const missing = createMissingClaims(set, ordinal, claim)
    const going = goingClaims(set, ordinal, claim)
    if (going.length > 0) return { actions: [...missing, delay(set, ordinal, going)], isWaiting: true }
    const conflicts = tellConflicts(set, ordinal, undefined, claim)
    return { actions: [...missing, creation(set, versions, ordinal), ...conflicts], isWaiting: isOrdered }
  }
  if (hasEnded(pod)) {
    return isGoing(pod) ? waiting : { actions: [deletion(set, pod, 'the pod has ended')], isWaiting: true }
  }
  const isStarting = pod.status?.phase === 'Pending'
  const isWaiting = isOrdered && !health.isHealthy(pod)
  const lacksClaims = isStarting || (!isWaiting && !hasVolumes(set, ordinal, pod))
  const missing = lacksClaims ? createMissingClaims(set, ordinal, claim) : []
  const changed = isStarting || !isWaiting ? alignClaims(set, ordinal, pod, claim) : []
  const conflicts = changed.length > 0 || isStarting ? tellConflicts(set, ordinal, pod, claim) : []
  if (isWaiting) return { actions: [...missing, ...changed, ...conflicts], isWaiting }
  const conformed = conform(set, ordinal, pod)
  const told = conformed.length === 0 ? tellOfUpdate(set, ordinal, changed) : changed
  return { actions: [...missing, ...conformed, ...told, ...conflicts], isWaiting }
}

/** Deletes a pod that is too much. In order the one that is not healthy goes first, if there is only one. */
function remove(
  { set, health }: StepInput,
  { pod }: Member,
  isOrdered: boolean,
  firstUnhealthy: Pod | undefined,
): Step {
  if (isGoing(pod)) return waiting
  if (isOrdered && !health.isAvailable(pod) && pod !== firstUnhealthy) return waiting
  return { actions: [deletion(set, pod, `${desiredOf(set)} replicas are wanted`)], isWaiting: true }
}

/**
 * The last pod of a former template, if all after it are available: one that is not is waited for, whichever others are not. Upstream
 * replaces several at once only behind a gate that is off.
 */
function nextOutdated({ set, versions, members, health }: StepInput): Pod | undefined {
  if ((set.spec.updateStrategy?.type ?? 'RollingUpdate') !== 'RollingUpdate') return undefined
  const [first, last] = [partition(set), firstOrdinal(set) + desiredOf(set) - 1]
  for (let ordinal = last; ordinal >= first; ordinal -= 1) {
    const pod = members.podAt(ordinal)
    if (pod === undefined || isGoing(pod) || hasEnded(pod)) return undefined
    if (revisionOf(pod) !== versions.update.metadata.name) return pod
    if (!health.isHealthy(pod)) return undefined
  }
  return undefined
}

/**
 * Gives a pod that lacks the label of its name, as an adopted one may, this and that of its number, and the volumes of its claims. The server does
 * not let volumes of a pod change: such a pod stays as it is, the event says why, and in order nothing is done beyond it until
 * somebody deletes it (upstream's UpdateStatefulPod).
 */
function conform(set: StatefulSet, ordinal: number, pod: Pod): readonly Action[] {
  const labels = { [podNameLabel]: podName(set, ordinal), [podIndexLabel]: String(ordinal) }
  const isNamed = pod.metadata.labels?.[podNameLabel] === podName(set, ordinal)
  const isStored = hasVolumes(set, ordinal, pod)
  if (isNamed && isStored) return []
  const body = {
    metadata: { labels },
    ...(isStored ? {} : { spec: { volumes: volumesOf(set, ordinal, pod.spec.volumes) } }),
  }
  const patch = { type: 'merge', body } as const
  const because = isStored ? 'the pod lacks its name' : 'the pod lacks volumes of its claims'
  const events = updateEvents(set, ordinal)
  return [{ type: 'patch', resource: podResource, key: podKey(pod), patch, because, events }]
}

function updateEvents(set: StatefulSet, ordinal: number, what = '') {
  const subject = `Update Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`
  return {
    succeeded: { reason: 'SuccessfulUpdate', message: `${subject} successful` },
    failed: { reason: 'FailedUpdate', message: `${subject} failed error: ${what}{error}` },
  } satisfies WriteEvents
}

/** Claims that are changed are told of as an update of their pod, once for all of them. */
function tellOfUpdate(set: StatefulSet, ordinal: number, changed: readonly ClaimPatch[]): readonly Action[] {
  return changed.map((action, index): Action => {
    const { succeeded, failed } = updateEvents(
      set,
      ordinal,
      `could not update claim ${action.key.name} for delete policy ownerRefs: `,
    )
    const isLast = index === changed.length - 1
    return { ...action, events: { failed, ...(isLast ? { succeeded } : {}) } }
  })
}

/** Says why a pod is not made yet, as upstream does. */
function delay(set: StatefulSet, ordinal: number, going: readonly string[]): Action {
  const errors = going.map((name) => `pvc ${name} is being deleted`)
  const error = errors.length === 1 ? errors.join() : `[${errors.join(', ')}]`
  return {
    type: 'event',
    eventType: 'Warning',
    reason: 'FailedCreate',
    message: `Create Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name} failed error: ${error}`,
    because: 'claims of the pod are on their way out',
  }
}

function creation(set: StatefulSet, versions: Versions, ordinal: number): Action {
  const inSet = `in StatefulSet ${set.metadata.name}`
  return {
    type: 'create',
    resource: podResource,
    object: statefulPod(set, versions, ordinal),
    because: `there is no pod ${podName(set, ordinal)}`,
    events: {
      succeeded: { reason: 'SuccessfulCreate', message: `Create Pod {name} ${inSet} successful` },
      failed: {
        reason: 'FailedCreate',
        message: `Create Pod {name} ${inSet} failed error: {error}`,
        unless: 'AlreadyExists',
      },
    },
  }
}

function deletion(set: StatefulSet, pod: Pod, because: string): Action {
  const inSet = `in StatefulSet ${set.metadata.name}`
  const { uid } = pod.metadata
  return {
    type: 'delete',
    resource: podResource,
    key: podKey(pod),
    ...(uid === undefined ? {} : { uid }),
    because,
    tellsIfGone: true,
    events: {
      succeeded: { reason: 'SuccessfulDelete', message: `Delete Pod {name} ${inSet} successful` },
      failed: { reason: 'FailedDelete', message: `Delete Pod {name} ${inSet} failed error: {error}` },
    },
  }
}

const isCreationOfPod = (action: Action): boolean => action.type === 'create' && action.resource === podResource

const isOfClaims = (action: Action): boolean =>
  action.type !== 'event' && action.resource.plural === 'persistentvolumeclaims'
