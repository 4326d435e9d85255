import { type Pod, pods, type StatefulSet, selectorFromLabelSelector } from '@coracle/api'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isControlledBy, isGoing, isReady } from '../owners.ts'
import { refusedByEvents, troubledPods, underWay } from './replicas.ts'

type SetFacts = Facts<StatefulSet>

export const statefulSetRules: KindRules<StatefulSet> = {
  reads: ({ metadata: { namespace }, spec }) => {
    const labelSelector = selectorFromLabelSelector(spec.selector).toString()
    return labelSelector === '' ? [] : [{ resource: pods, namespace, labelSelector }]
  },
  rules: [refusedPods, waitsForOrdinal, updatedByHand],
  leads: (facts) => troubledPods(facts).toSorted((a, b) => ordinalOf(a) - ordinalOf(b)),
  behind: notReady,
}

const ordinalOf = ({ metadata }: Pod): number => Number(/-(\d+)$/.exec(metadata.name ?? '')?.[1] ?? 0)

const ownPods = ({ object, some }: SetFacts): readonly Pod[] => some(pods).filter((pod) => isControlledBy(pod, object))

const isShort = ({ object }: SetFacts): boolean => (object.status?.replicas ?? 0) < (object.spec.replicas ?? 1)

/** What was refused before all pods were there is of no interest any more. */
function refusedPods(facts: SetFacts): Diagnosis | undefined {
  return isShort(facts) ? refusedByEvents(facts) : undefined
}

/** Pods come, and are renewed, one after the other. */
function waitsForOrdinal(facts: SetFacts): Diagnosis | undefined {
  const { object } = facts
  const { spec, status } = object
  if (spec.podManagementPolicy === 'Parallel' || isGoing(object)) return undefined
  const isBehind = isShort(facts) || status?.currentRevision !== status?.updateRevision
  const [first] = ownPods(facts)
    .filter((pod) => !isReady(pod))
    .toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
  if (!isBehind || first === undefined) return undefined
  const how = isGoing(first) ? 'is going' : 'is not ready'
  return {
    reason: 'WaitsForOrdinal',
    what: `${ownPods(facts).filter(isReady).length} of ${spec.replicas ?? 1} pods are ready, and no other is started or renewed`,
    because: `pod ${first.metadata.name} ${how}: the pods of a StatefulSet come one after the other`,
    remedy: `see what holds it up: \`coracle why pod/${first.metadata.name}\`; podManagementPolicy: Parallel does not wait, and is set when the StatefulSet is created`,
    isSymptom: true,
  }
}

const isUpdated = ({ metadata }: Pod, { status }: StatefulSet): boolean =>
  metadata.labels?.['controller-revision-hash'] === status?.updateRevision

/** Pods of the old template that are to stay so. */
function updatedByHand(facts: SetFacts): Diagnosis | undefined {
  const { object } = facts
  const { spec, status, metadata } = object
  const own = ownPods(facts).filter((pod) => !isGoing(pod))
  const old = own.filter((pod) => !isUpdated(pod, object))
  // Which revision is the latest its controller says, once it has seen the template.
  const isSeen = status?.updateRevision !== undefined && status.observedGeneration === metadata.generation
  if (!isSeen || old.length === 0 || isGoing(object)) return undefined
  const { type, rollingUpdate } = spec.updateStrategy ?? {}
  const told = `${own.length - old.length} of ${own.length} pods have the latest template`
  if (type === 'OnDelete') {
    return {
      reason: 'UpdatedOnDelete',
      what: told,
      because: 'spec.updateStrategy is OnDelete: a pod gets the latest template when it is deleted',
      remedy: `delete the old pods of ${metadata.name} one by one, or say RollingUpdate`,
    }
  }
  const partition = rollingUpdate?.partition ?? 0
  if (old.some((pod) => ordinalOf(pod) >= partition)) return undefined
  return {
    reason: 'HeldByPartition',
    what: told,
    because: `spec.updateStrategy.rollingUpdate.partition is ${partition}: pods with a smaller ordinal stay as they are`,
    remedy: 'lower the partition to go on',
  }
}

function notReady(facts: SetFacts): Diagnosis | undefined {
  const { object } = facts
  const wanted = object.spec.replicas ?? 1
  const own = ownPods(facts).filter((pod) => !isGoing(pod))
  const ready = own.filter(isReady).length
  const { currentRevision, updateRevision } = object.status ?? {}
  if (isGoing(object) || (ready === wanted && own.length === wanted && currentRevision === updateRevision))
    return undefined
  return underWay(`${ready} of ${wanted} pods are ready`, `${own.length} exist`)
}
