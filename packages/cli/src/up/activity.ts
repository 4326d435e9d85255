import { type Event, events, type Node, nodes, type Pod, parseTime, pods } from '@coracle/api'
import { type Aggregate, type Client, createInformer, type InformerHandler } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { PodGroups, Tally } from './bursts.ts'
import { lastLogLine } from './last-log-line.ts'
import { aboutText, type ChangeOf } from './log-changes.ts'
import { podChanges } from './pod-changes.ts'

export type Tell = (change: ChangeOf) => void

export interface Activity {
  /** Pods that have not ended. */
  readonly livePods: number
  /** Those of them that were there before the cluster was started. */
  readonly earlierPods: number
  /** Which pods belong together. */
  readonly groups: PodGroups
  stop(): Promise<void>
}

/**
 * Tells what happens to pods and nodes, and of warnings about anything, from now on. `startedMs` is when the cluster was
 * started: what ended before that is no news. Resolves once it is listening.
 */
export async function followActivity(
  client: Client,
  environment: Environment,
  startedMs: number,
  tell: Tell,
): Promise<Activity> {
  const podInformer = createInformer<Pod>(client, pods, {}, environment)
  const nodeInformer = createInformer<Node>(client, nodes, {}, environment)
  const eventInformer = createInformer<Event>(client, events, { fieldSelector: toldEvents }, environment)
  const groupNames = new Map<string, string>()
  podInformer.addHandler(fromNowOn(podHandler(client, startedMs, tell)))
  podInformer.addHandler(groupHandler(groupNames, environment))
  const tallies = new GroupTallies()
  podInformer.addAggregate(tallies)
  nodeInformer.addHandler(fromNowOn(nodeHandler(tell)))
  eventInformer.addHandler(fromNowOn(eventHandler(tell)))
  const informers = [podInformer, nodeInformer, eventInformer]
  for (const informer of informers) informer.start()
  await Promise.all(informers.map((informer) => informer.waitForSync()))
  return {
    get livePods() {
      return podInformer.list().filter(isLive).length
    },
    get earlierPods() {
      // Objects say in whole seconds when they were made.
      const sinceMs = startedMs - (startedMs % 1_000)
      const isEarlier = ({ metadata: { creationTimestamp = '' } }: Pod) => parseTime(creationTimestamp) < sinceMs
      return podInformer.list().filter((pod) => isLive(pod) && isEarlier(pod)).length
    },
    groups: {
      groupOf: (about) => groupNames.get(about),
      tally: (group) => tallies.of(group),
    },
    async stop() {
      await Promise.all(informers.map((informer) => informer.stop()))
    },
  }
}

/** The same handler, silent about what was there before. */
function fromNowOn<T extends Pod | Node | Event>(handler: InformerHandler<T>): InformerHandler<T> {
  return {
    ...handler,
    add(object, isInitial) {
      if (!isInitial) handler.add?.(object, isInitial)
    },
  }
}

const aboutPod = ({ metadata }: Pod): string => aboutText('pod', metadata.namespace, metadata.name ?? '')

/** The controller asked about last, and how lines name it: pods of one controller mostly come together, and share its text. */
let latest = { kind: '', namespace: '', name: '', text: '' }

/** The controller of a pod, as lines name it. */
function groupOf({ metadata: { namespace = '', ownerReferences } }: Pod): string | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller)
  if (owner === undefined) return undefined
  const { kind, name } = owner
  if (latest.name !== name || latest.kind !== kind || latest.namespace !== namespace)
    latest = { kind, namespace, name, text: aboutText(kind, namespace, name) }
  return latest.text
}

/** A pod that is gone is still told of by who has deleted it, for so long at least. */
const rememberedMs = 5_000

/** Keeps the groups of pods that are there, and of those that have just gone: what has happened to them is yet to be told. */
function groupHandler(groups: Map<string, string>, { clock }: Environment): InformerHandler<Pod> {
  /** Pods that have gone, and when they are forgotten: with one timer for all, for a thousand go in a moment. */
  const gone = new Map<string, number>()
  const keep = (pod: Pod) => {
    const about = aboutPod(pod)
    const group = groupOf(pod)
    if (group === undefined) groups.delete(about)
    else groups.set(about, group)
    gone.delete(about)
  }
  const forget = () => {
    for (const [about, dueMs] of gone) {
      if (dueMs > clock.monotonicMs()) break
      gone.delete(about)
      groups.delete(about)
    }
    if (gone.size > 0) clock.setTimer(rememberedMs, forget)
  }
  return {
    add: keep,
    update(old, pod) {
      if (old.metadata.ownerReferences !== pod.metadata.ownerReferences) keep(pod)
    },
    delete(pod) {
      if (gone.size === 0) clock.setTimer(rememberedMs, forget)
      gone.set(aboutPod(pod), clock.monotonicMs() + rememberedMs)
    },
  }
}

/** How many pods of each group stay, and how many of those are ready: counted as they change, for there may be thousands. */
class GroupTallies implements Aggregate<Pod> {
  readonly #tallies = new Map<string, Tally>()

  of(group: string): Tally {
    return this.#tallies.get(group) ?? noPods
  }

  add(pod: Pod): void {
    this.#count(pod, 1)
  }

  remove(pod: Pod): void {
    this.#count(pod, -1)
  }

  #count(pod: Pod, change: 1 | -1): void {
    if (!isLive(pod) || pod.metadata.deletionTimestamp !== undefined) return
    const group = groupOf(pod)
    if (group === undefined) return
    const { ready, total } = this.of(group)
    if (total + change === 0) this.#tallies.delete(group)
    else this.#tallies.set(group, { ready: ready + (isReady(pod) ? change : 0), total: total + change })
  }
}

const noPods: Tally = { ready: 0, total: 0 }

function podHandler(client: Client, startedMs: number, tell: Tell): InformerHandler<Pod> {
  const about = aboutPod
  return {
    add(pod) {
      // A controller has told of its pod already, and why.
      const isControlled = pod.metadata.ownerReferences?.some(({ controller }) => controller) === true
      if (!isControlled) tell({ about: about(pod), what: 'created', tone: 'plain' })
    },
    update(old, pod) {
      for (const change of podChanges(old, pod, startedMs)) {
        if (change.crashed === undefined) tell({ about: about(pod), ...change })
        else void tellCrash(client, pod, { about: about(pod), ...change }, change.crashed, tell)
      }
    },
    delete(pod) {
      tell({ about: about(pod), what: 'gone', tone: 'plain' })
    },
  }
}

/** With the last thing the container has said, which mostly is why. */
async function tellCrash(client: Client, pod: Pod, change: ChangeOf, container: string, tell: Tell): Promise<void> {
  const line = await lastLogLine(client, pod, container)
  tell(line === '' ? change : { ...change, what: `${change.what}: ${line}` })
}

function nodeHandler(tell: Tell): InformerHandler<Node> {
  const about = ({ metadata }: Node): string => aboutText('node', undefined, metadata.name ?? '')
  return {
    add(node) {
      tell({ about: about(node), what: `joined${isReady(node) ? ', ready' : ''}`, tone: 'plain' })
    },
    update(old, node) {
      if (isReady(old) === isReady(node)) return
      tell({
        about: about(node),
        ...(isReady(node) ? { what: 'ready', tone: 'good' } : { what: 'not ready', tone: 'bad' }),
      })
    },
    delete(node) {
      tell({ about: about(node), what: 'gone', tone: 'plain' })
    },
  }
}

/** Warnings, but for those whose news the pod's own changes bring: of all that happens most is neither asked for nor kept. */
const toldEvents = 'type=Warning,reason!=FailedScheduling,reason!=BackOff'

/** Containers that have just started do not answer at once: a readiness probe is told of when it fails as often as it may by default. */
const readinessFailuresTold = 3

/** How often an event has to have happened before it is told. */
const toldFrom = ({ reason, message = '' }: Event): number =>
  reason === 'Unhealthy' && message.startsWith('Readiness probe') ? readinessFailuresTold : 1

const timesOf = ({ count = 1, series }: Event): number => series?.count ?? count

function eventHandler(tell: Tell): InformerHandler<Event> {
  const tellOf = ({ reason = '', message = '', involvedObject }: Event): void => {
    const about = aboutText(involvedObject.kind ?? '', involvedObject.namespace, involvedObject.name ?? '')
    tell({ about, what: `${reason}: ${message}`, tone: 'bad' })
  }
  return {
    add(event) {
      if (timesOf(event) >= toldFrom(event)) tellOf(event)
    },
    update(old, event) {
      const from = toldFrom(event)
      if (timesOf(old) < from && timesOf(event) >= from) tellOf(event)
    },
  }
}

const isLive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

const isReady = ({ status }: Node | Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
