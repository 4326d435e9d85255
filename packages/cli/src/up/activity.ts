import { type Event, events, type Node, nodes, type Pod, pods } from '@coracle/api'
import { type Client, createInformer, type Informer, type InformerHandler } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { aboutText, type ChangeOf } from './log-changes.ts'
import { podChanges } from './pod-changes.ts'

export type Tell = (change: ChangeOf) => void

export interface Activity {
  /** Pods that have not ended. */
  readonly livePods: number
  stop(): Promise<void>
}

/** Tells what happens to pods and nodes, and of warnings about anything, from now on. Resolves once it is listening. */
export async function followActivity(client: Client, environment: Environment, tell: Tell): Promise<Activity> {
  const podInformer = createInformer<Pod>(client, pods, {}, environment)
  const nodeInformer = createInformer<Node>(client, nodes, {}, environment)
  const eventInformer = createInformer<Event>(client, events, {}, environment)
  podInformer.addHandler(fromNowOn(podInformer, podHandler(tell)))
  nodeInformer.addHandler(fromNowOn(nodeInformer, nodeHandler(tell)))
  eventInformer.addHandler(fromNowOn(eventInformer, eventHandler(tell)))
  const informers = [podInformer, nodeInformer, eventInformer]
  for (const informer of informers) informer.start()
  await Promise.all(informers.map((informer) => informer.waitForSync()))
  return {
    get livePods() {
      return podInformer.list().filter(isLive).length
    },
    async stop() {
      await Promise.all(informers.map((informer) => informer.stop()))
    },
  }
}

/** The same handler, silent about what was there before. */
function fromNowOn<T extends Pod | Node | Event>(
  informer: Informer<T>,
  handler: InformerHandler<T>,
): InformerHandler<T> {
  return {
    ...handler,
    add(object) {
      if (informer.hasSynced) handler.add?.(object)
    },
  }
}

function podHandler(tell: Tell): InformerHandler<Pod> {
  const about = ({ metadata }: Pod): string => aboutText('pod', metadata.namespace, metadata.name ?? '')
  return {
    add(pod) {
      // A controller has told of its pod already, and why.
      const isControlled = pod.metadata.ownerReferences?.some(({ controller }) => controller) === true
      if (!isControlled) tell({ about: about(pod), what: 'created', tone: 'plain' })
    },
    update(old, pod) {
      for (const change of podChanges(old, pod)) tell({ about: about(pod), ...change })
    },
    delete(pod) {
      tell({ about: about(pod), what: 'gone', tone: 'plain' })
    },
  }
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

/** Warnings whose news the pod's own changes bring. */
const toldByPods = new Set(['FailedScheduling', 'BackOff'])

function eventHandler(tell: Tell): InformerHandler<Event> {
  return {
    add({ type, reason = '', message = '', involvedObject }) {
      if (type !== 'Warning' || toldByPods.has(reason)) return
      const about = aboutText(involvedObject.kind ?? '', involvedObject.namespace, involvedObject.name ?? '')
      tell({ about, what: `${reason}: ${message}`, tone: 'bad' })
    },
  }
}

const isLive = ({ status }: Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
