import type { ContainerStatus, Pod } from '@coracle/api'
import type { Explainer, Facts } from './facts.ts'
import { conditionOf, saidBy } from './object-explainers.ts'

const podOf = ({ object }: Facts): Pod => object as Pod

/** What can hold up a pod, in the order it meets it. */
export const podExplainers: readonly Explainer[] = [
  gated,
  waitsForClaims,
  unschedulable,
  ended,
  cannotStart,
  crashLoops,
  notReady,
  waitsForItsNode,
]

function gated(facts: Facts) {
  const gates = podOf(facts).spec.schedulingGates ?? []
  if (gates.length === 0) return undefined
  const names = gates.map(({ name }) => name).join(', ')
  return {
    what: 'no node is looked for',
    because: `it has scheduling gates: ${names}`,
    remedy: 'whoever set a gate takes it away when the pod may go on',
  }
}

function waitsForClaims(facts: Facts) {
  const { claims } = facts
  const pending = claims.filter(({ status }) => status?.phase !== 'Bound')
  if (isAssigned(facts) || pending.length === 0) return undefined
  const names = pending.map(({ metadata }) => metadata.name).join(', ')
  return {
    what: 'its volumes are not there',
    because: `${pending.length === 1 ? 'a claim is' : 'claims are'} not bound: ${names}`,
    remedy: `ask \`coracle why pvc/${pending[0]?.metadata.name}\``,
  }
}

function unschedulable(facts: Facts) {
  const condition = conditionOf(facts, 'PodScheduled')
  if (condition?.status !== 'False' || isAssigned(facts) || condition.reason === 'SchedulingGated') return undefined
  return {
    what: 'no node takes it',
    because: saidBy(condition),
    remedy: 'give it what a node has: smaller requests, another selector or a toleration; or add such a node',
  }
}

function ended(facts: Facts) {
  const { status } = podOf(facts)
  if (status?.phase !== 'Failed') return undefined
  const { reason = '', message = '' } = status
  const container = status.containerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const { terminated } = container?.state ?? {}
  const because =
    message || reason || (terminated ? `container ${container?.name} ended with exit code ${terminated.exitCode}` : '')
  return {
    what: reason === 'Evicted' ? 'its node has evicted it' : 'it has failed for good',
    because: because === '' ? 'its containers have ended with an error' : because,
    remedy: 'what owns it makes another; a pod that nobody owns has to be created again',
  }
}

/** What is wrong with a container that has never begun, by the reason it waits for. */
const remedies: Readonly<Record<string, string>> = {
  ErrImagePull: 'see that the image exists under that name and that the node may pull it',
  ImagePullBackOff: 'see that the image exists under that name and that the node may pull it',
  ErrImageNeverPull: 'bring the image to the node, or let it be pulled: imagePullPolicy',
  InvalidImageName: 'correct the name of the image',
  CreateContainerConfigError: 'correct what the message names in the pod, or in the template that makes it',
  CreateContainerError: 'correct what the container runs: its image, command and mounts',
  RunContainerError: 'correct what the container runs: its image and command',
}

/** What a configuration lacks that is to be had from elsewhere. */
const lacksSource = /\b(configmap|secret)\b.*not found|couldn't find key/i

function cannotStart(facts: Facts) {
  for (const { name, state } of containersOf(podOf(facts))) {
    const { reason = '', message = '' } = state?.waiting ?? {}
    const remedy = remedies[reason]
    if (remedy === undefined) continue
    return {
      what: `container ${name} cannot start`,
      because: message === '' ? reason : `${reason}: ${message}`,
      remedy: lacksSource.test(message)
        ? 'create the ConfigMap or Secret it names, or correct the name and the key'
        : remedy,
    }
  }
  return undefined
}

function crashLoops(facts: Facts) {
  const looping = containersOf(podOf(facts)).find(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff')
  if (looping === undefined) return undefined
  const { name, lastState, restartCount } = looping
  const { exitCode, reason = 'Error' } = lastState?.terminated ?? {}
  return {
    what: `container ${name} ends as soon as it starts`,
    because: `it has been restarted ${restartCount} times, and ended last with exit code ${exitCode ?? '?'} (${reason})`,
    remedy: `read \`coracle logs ${podOf(facts).metadata.name} -c ${name} --previous\``,
  }
}

function notReady(facts: Facts) {
  const { status, metadata } = podOf(facts)
  const condition = conditionOf(facts, 'Ready')
  if (status?.phase !== 'Running' || condition?.status !== 'False' || metadata.deletionTimestamp !== undefined)
    return undefined
  const running = containersOf(podOf(facts)).filter(({ ready, state }) => !ready && state?.running !== undefined)
  const probe = facts.events.findLast(({ reason }) => reason === 'Unhealthy')
  if (running.length === 0) return undefined
  const names = running.map(({ name }) => name).join(', ')
  return {
    what: 'it runs and is not ready: no Service sends it anything',
    because: probe?.message ?? `containers that are not ready: ${names}`,
    remedy: 'see what the readiness probe asks for, and what the container answers',
  }
}

function waitsForItsNode(facts: Facts) {
  const { spec, status, metadata } = podOf(facts)
  if (spec.nodeName === undefined || status?.startTime !== undefined || metadata.deletionTimestamp !== undefined)
    return undefined
  return {
    what: 'its node does nothing about it',
    because: `node ${spec.nodeName} has not taken it on yet`,
    remedy: `see that the node is alive: \`coracle why node/${spec.nodeName}\``,
  }
}

const isAssigned = (facts: Facts): boolean => (podOf(facts).spec.nodeName ?? '') !== ''

const containersOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]
