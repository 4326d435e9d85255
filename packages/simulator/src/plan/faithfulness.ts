import {
  customResourceDefinitions,
  type EndpointSlice,
  type Job,
  type KubernetesObject,
  type Pod,
  type Resource,
  type ResourceClaim,
} from '@coracle/api'
import { readState, startCluster } from '@coracle/cluster'
import { seededRandom, virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { Administrator } from '../administrator.ts'
import { Draw } from '../draw.ts'
import { gadgetDefinition, type Kind, workloadKinds } from '../kinds.ts'
import { describeOperation, type Operation, type Request, type Target } from '../operation.ts'
import { withPatience } from '../patience.ts'
import { scenarioOf } from '../scenario.ts'
import { imageOf, replicasLimit } from '../shapes.ts'
import { controllerOf, hasEnded, isReady } from '../view.ts'
import { availabilityOf } from './availability.ts'
import { nameText, objectNameOf } from './object-name.ts'
import { ObjectsNow } from './objects-now.ts'
import { quotaContestsOf } from './quota-contests.ts'
import { Recording } from './recording.ts'
import { hearingClient, playOn, Rehearsal, type Rehearsed } from './rehearsal.ts'

/** What a plan said and what then happened, side by side. */
export interface Comparison {
  readonly seed: number
  /** The change, in words. */
  readonly change: string
  /** Pods created and deleted in what happened. */
  readonly podEvents: number
  /** What is not the same; nothing where the plan was right. */
  readonly differences: readonly string[]
}

/** How much virtual time is compared. */
const comparedMs = 15 * 60_000
/**
 * The API tells times to the second, and of what began within one it tells nothing more. So that a copy can know all, operations,
 * and what containers do, begin and end at whole seconds.
 */
const grainMs = 1000
/** How long containers take to start in both: rollouts go step by step then, and a change finds some that are half started. */
const startDelayMs = 2 * grainMs
/** Operations before the change that is planned, at most. */
const operationsMax = 12

/**
 * Plays a scenario without faults but for its last request; plans that on a copy; then really makes it, and compares: the pods that
 * were created and deleted, in order; what there is in the end; and how few were ready at the worst.
 *
 * Compared are what happened in each second, and for each workload in which order it was given pods, and in which order it lost them.
 * Pods of one owner whose names end in random letters stand for each other. What happens first of what happens at the same time is chance:
 * workloads between which that decides, because they ask for the room of one quota, are not compared.
 */
export async function comparePlan(seed: number): Promise<Comparison> {
  const { change, planned, happened } = await planAndMake(seed)
  return {
    seed,
    change,
    podEvents: podEvents(happened).length,
    differences: differences(planned, happened),
  }
}

/** A change as it was planned, and as it then happened. */
export interface PlannedAndMade {
  /** The change, in words. */
  readonly change: string
  readonly planned: Rehearsed
  readonly happened: Rehearsed
}

/** What `comparePlan` compares. */
export async function planAndMake(seed: number): Promise<PlannedAndMade> {
  const { nodes, operations: all } = scenarioOf(seed, { faults: false, demands: false, operationsMax })
  const operations = all.map(withoutChance)
  const earlier = operations.slice(0, -1)
  const last = changeFor(seed, operations)
  const environment = virtualEnvironment({ seed })
  const { clock } = environment
  const store = createMemoryStore()
  const behaviour = () => ({ startLatencyMs: startDelayMs })
  // A plan takes the load of autoscalers to be steady, and says so: what comes of other loads it does not foretell.
  const source = await startCluster({ environment, store, nodes, behaviour, load: 'steady' })
  try {
    const administrator = new Administrator(source.client, { wait: (work) => withPatience(clock, work, grainMs) })
    await source.client.create(customResourceDefinitions as Resource, gadgetDefinition as unknown as KubernetesObject)
    await clock.advance('1s')
    const startMs = clock.now()
    for (const operation of earlier) {
      const waitMs = startMs + operation.atMs - clock.now()
      if (waitMs > 0) await clock.advance(waitMs)
      await administrator.try(() => administrator.ask(operation as Request, operation.atMs))
      await clock.settle()
    }
    await clock.advance(Math.max(0, startMs + last.atMs - clock.now()))
    const resources = await source.discover()
    const state = await readState({ client: source.client, resources }, { clock })
    const planned = await plan({ ...state, takenAtMs: clock.now() }, seed, last)
    const recording = await Recording.start(clock, store)
    // By a client like that of the plan, so that whoever makes the change is as fast in both.
    const client = hearingClient(source.client, recording)
    const happened = await playOn(clock, recording, asking(client, last), comparedMs)
    recording.close()
    return { change: describeOperation(last).trim(), planned, happened }
  } finally {
    await source.stop()
    await store.close()
  }
}

async function plan(
  state: Parameters<typeof Rehearsal.open>[0],
  seed: number,
  request: Operation & Request,
): Promise<Rehearsed> {
  const assumptions = { startDelayMs, failRate: 0 }
  await using rehearsal = await Rehearsal.open(state, { seed, timeoutMs: comparedMs, assumptions })
  return await rehearsal.play(asking(rehearsal.client, request))
}

/** Makes a request where somebody else lets time pass. A refusal is a result like any other. */
function asking(
  client: ConstructorParameters<typeof Administrator>[0],
  request: Operation & Request,
): () => Promise<void> {
  const administrator = new Administrator(client, { wait: (work) => work })
  return () => administrator.try(() => administrator.ask(request, request.atMs))
}

/** The change that is planned: in most cases one of a workload that was made before, so that something comes of it. */
function changeFor(seed: number, operations: readonly Operation[]): Operation & Request {
  const last = operations.at(-1) as Operation & Request
  const draw = new Draw(seededRandom(seed).fork('change'))
  const targets = operations.flatMap((each): readonly Target[] => {
    if (each.type !== 'create' || !('spec' in each.object && isKept(each.object.kind))) return []
    const { kind, metadata } = each.object
    return [{ kind: kind as Kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }]
  })
  if (targets.length === 0 || draw.chance(0.25)) return last
  const target = draw.of(targets)
  const { atMs } = last
  const choices: readonly (() => Operation & Request)[] = [
    () => ({ atMs, type: 'set-image', target, image: imageOf(draw) }),
    () => ({ atMs, type: 'set-image', target, image: 'example/web:4' }),
    () => ({ atMs, type: 'scale', target, replicas: draw.below(2 * replicasLimit) }),
    () => ({ atMs, type: 'undo', target }),
    () => ({ atMs, type: 'drain', pick: draw.next() }),
    () => ({ atMs, type: 'taint', pick: draw.next(), effect: 'NoExecute' }),
    () => ({ atMs, type: 'delete', target, propagationPolicy: draw.of(['Background', 'Foreground', 'Orphan']) }),
  ]
  return draw.of(choices)()
}

const isKept = (kind = ''): boolean => (workloadKinds as readonly string[]).includes(kind)

/** An operation at a whole second, whose containers end in one way: a copy does not know which exit code comes next. */
function withoutChance(operation: Operation): Operation {
  const text = JSON.stringify({ ...operation, atMs: Math.floor(operation.atMs / grainMs) * grainMs })
  return JSON.parse(text.replaceAll(/("SIMULATED_EXIT_CODE","value":"\d+)[,\d]*"/g, '$1"')) as Operation
}

interface PodEvent {
  readonly atMs: number
  /** Whose pod it is. */
  readonly workload: string
  readonly text: string
}

function differences(planned: Rehearsed, happened: Rehearsed): readonly string[] {
  const untilMs = Math.min(planned.endMs, happened.endMs)
  const leftToChance = new Set([planned, happened].flatMap(rivalsIn))
  const [one, two] = [planned, happened].map((each) =>
    podEvents(each).filter(({ atMs, workload }) => atMs < untilMs && !leftToChance.has(workload)),
  )
  return [
    ...difference('pods in each second', moments(one ?? []), moments(two ?? [])),
    ...difference('pods of each workload', inOrder(one ?? []), inOrder(two ?? [])),
    ...difference('in the end', finalState(planned.after, leftToChance), finalState(happened.after, leftToChance)),
    ...difference('at the worst', lowWaterMarks(planned, leftToChance), lowWaterMarks(happened, leftToChance)),
  ]
}

/** The workloads of a run that ask for the room of one quota, by name. */
const rivalsIn = ({ before, underWay, changes }: Rehearsed): readonly string[] =>
  quotaContestsOf(before, underWay, changes).flatMap(({ workloads }) => workloads.map(nameText))

/** The lines that one has and the other has not, where they first differ. */
function difference(what: string, planned: readonly string[], happened: readonly string[]): readonly string[] {
  const length = Math.max(planned.length, happened.length)
  for (let index = 0; index < length; index++) {
    const [expected = 'nothing', found = 'nothing'] = [planned[index], happened[index]]
    if (expected !== found) return [`${what}, ${index + 1} of ${length}: planned ${expected}; happened ${found}`]
  }
  return []
}

/** Creations and deletions of pods. */
function podEvents({ before, changes }: Rehearsed): readonly PodEvent[] {
  const objects = new ObjectsNow(before)
  return changes.flatMap((change) => {
    const { atMs, old, object } = change
    objects.apply(change)
    const subject = object ?? old
    if (subject?.kind !== 'Pod') return []
    const isReplaced = old !== undefined && object !== undefined && old.metadata.uid !== object.metadata.uid
    const event = (sign: string, pod: KubernetesObject): PodEvent => {
      const workload = nameText(objectNameOf(objects.workloadOf(pod)))
      return { atMs, workload, text: `${sign} ${podText(pod, objects)}` }
    }
    if (isReplaced) return [event('-', old), event('+', object)]
    if (old === undefined) return [event('+', subject)]
    const isTold = old.metadata.deletionTimestamp === undefined && object?.metadata.deletionTimestamp !== undefined
    if (isTold) return [event('~', subject)]
    return object === undefined ? [event('-', subject)] : []
  })
}

/** A pod by what made it; by its name where that says which it is, or nothing made it. */
function podText(pod: KubernetesObject, objects: ObjectsNow): string {
  const { namespace, name = '' } = pod.metadata
  const owner = objects.byUid(controllerOf(pod)?.uid ?? '')
  if (owner?.kind === 'StatefulSet' || owner === undefined) return `${namespace}/${name}`
  return `one of ${owner.kind} ${namespace}/${owner.metadata.name}`
}

/** What happened in each second, one after the other; within a second sorted. */
function moments(events: readonly PodEvent[]): readonly string[] {
  const byTime = Map.groupBy(events, ({ atMs }) => Math.floor(atMs / 1000))
  return [...byTime.values()].map((each) =>
    each
      .map(({ text }) => text)
      .toSorted()
      .join(', '),
  )
}

/** The pods that each workload was given, in order, and those it lost. */
function inOrder(events: readonly PodEvent[]): readonly string[] {
  const begun = events.filter(({ text }) => !text.startsWith('-'))
  const byWorkload = Map.groupBy(begun, ({ workload, text }) => `${workload} ${text[0]}`)
  return [...byWorkload.keys()].toSorted().flatMap((key) => byWorkload.get(key)?.map(({ text }) => text) ?? [])
}

/** What there is, without what is by chance or by the clock: one line each, sorted. */
function finalState(objects: readonly KubernetesObject[], leftToChance: ReadonlySet<string>): readonly string[] {
  const now = new ObjectsNow(objects)
  const isCompared = (object: KubernetesObject) => !leftToChance.has(nameText(objectNameOf(now.workloadOf(object))))
  return objects
    .filter(isCompared)
    .flatMap((object) => lineOf(object, now))
    .toSorted()
}

const skippedKinds: ReadonlySet<string> = new Set([
  'Event',
  'Lease',
  'Endpoints',
  'IPAddress',
  'ControllerRevision',
  'Secret',
])

function lineOf(object: KubernetesObject, objects: ObjectsNow): readonly string[] {
  const { kind = '', metadata } = object
  if (skippedKinds.has(kind)) return []
  if (kind === 'Pod') return [podLine(object as Pod, objects)]
  if (kind === 'EndpointSlice') {
    const { endpoints = [] } = object as EndpointSlice
    const ready = endpoints.filter(({ conditions }) => conditions?.ready === true).length
    return [
      `EndpointSlice of ${metadata.labels?.['kubernetes.io/service-name']}: ${ready} of ${endpoints.length} ready`,
    ]
  }
  if (kind === 'ResourceClaim') return [claimLine(object as ResourceClaim, objects)]
  const isOfCronJob = kind === 'Job' && controllerOf(object) !== undefined
  if (isOfCronJob) return [`Job of ${controllerOf(object)?.name}: ${conditionsOf(object as Job)}`]
  const { spec, status } = object as { spec?: unknown; status?: unknown }
  const isGoing = metadata.deletionTimestamp === undefined ? '' : ' going'
  // A volume that was made for a claim is named by that claim's uid.
  const name = withoutUids(metadata.name ?? '')
  return [
    `${kind} ${metadata.namespace}/${name}${isGoing} ${stable(metadata.labels)} ${stable(spec)} ${stable(status)}`,
  ]
}

/** A claim that was made for a pod is named by chance, as that is, and which devices a claim gets goes by the order of pods. */
function claimLine(claim: ResourceClaim, objects: ObjectsNow): string {
  const { allocation, reservedFor = [] } = claim.status ?? {}
  const count = allocation?.devices?.results?.length ?? 0
  const workload = nameText(objectNameOf(objects.workloadOf(claim)))
  return `ResourceClaim of ${workload}: ${count} devices for ${reservedFor.length}`
}

function podLine(pod: Pod, objects: ObjectsNow): string {
  const { metadata, spec, status } = pod
  const going = metadata.deletionTimestamp === undefined ? '' : ' going'
  const state = hasEnded(pod) ? status?.phase : isReady(pod) ? 'ready' : `${status?.phase} not ready`
  const images = spec.containers.map(({ image }) => image).join(',')
  const placed = spec.nodeName === undefined ? 'without a node' : `on ${spec.nodeName}`
  return `Pod ${podText(pod, objects)} ${state}${going} ${placed} ${images} ${stable(metadata.labels)}`
}

const conditionsOf = ({ status }: Job): string =>
  (status?.conditions ?? []).map(({ type, status: holds, reason }) => `${type}=${holds} ${reason}`).join(', ')

/** JSON without times, versions, identities and addresses. */
function stable(value: unknown): string {
  const text =
    JSON.stringify(value, (key, each: unknown) => (unstableKeys.has(key) ? undefined : inKeyOrder(each))) ?? ''
  return withoutUids(text)
}

const withoutUids = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'uid')

function inKeyOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const unstableKeys: ReadonlySet<string> = new Set([
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'disruptedPods',
  'lastHeartbeatTime',
  'lastProbeTime',
  'lastScaleTime',
  'lastScheduleTime',
  'lastSuccessfulTime',
  'lastTransitionTime',
  'lastUpdateTime',
  'startTime',
  'completionTime',
  'active',
  'message',
  'observedGeneration',
  'resourceVersion',
  'uncountedTerminatedPods',
  'images',
])

const lowWaterMarks = ({ before, changes, startMs }: Rehearsed, leftToChance: ReadonlySet<string>): readonly string[] =>
  availabilityOf(before, changes, startMs)
    .filter(({ object }) => !leftToChance.has(nameText(object)))
    .map(
      ({ object, lowest, promised, broken }) =>
        `${object.kind} ${object.namespace}/${object.name}: ${lowest} of ${promised}${broken === undefined ? '' : `, broken: ${broken.ready}`}`,
    )
