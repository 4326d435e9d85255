import type { Event, KubernetesObject } from '@coracle/api'
import { nameText, type ObjectName, objectNameOf } from './object-name.ts'
import { ObjectsNow } from './objects-now.ts'
import type { RecordedChange } from './recording.ts'

/** Several workloads that ask for the room of one quota, which is not enough for all of them: who gets it is chance. */
export interface QuotaContest {
  readonly quota: ObjectName
  /** At least two. */
  readonly workloads: readonly ObjectName[]
}

interface Contest {
  readonly quota: ObjectName
  readonly workloads: Map<string, ObjectName>
}

/**
 * The contests for the room of quotas in a run, in the order in which they began. Those that a quota refuses ask again when it gives
 * room, all in one moment. Where none of them is given anything there is nothing to win. Pure.
 */
export function quotaContestsOf(
  before: readonly KubernetesObject[],
  underWay: readonly RecordedChange[],
  changes: readonly RecordedChange[],
): readonly QuotaContest[] {
  const objects = new ObjectsNow(before)
  const contests = new Map<string, Contest>()
  const fed = new Set<string>()
  const hear = (change: RecordedChange) => {
    objects.apply(change)
    if (change.object?.kind === 'Event') noteRefusals(contests, change.object as Event, objects)
  }
  for (const change of underWay) hear(change)
  for (const change of changes) {
    hear(change)
    const { old, object } = change
    if (old === undefined && object?.kind === 'Pod') fed.add(nameText(objectNameOf(objects.workloadOf(object))))
  }
  return [...contests.values()].flatMap(({ quota, workloads }) => {
    const isContested = workloads.size > 1 && [...workloads.keys()].some((name) => fed.has(name))
    return isContested ? [{ quota, workloads: [...workloads.values()] }] : []
  })
}

/** `exceeded quota: NAME, requested: …`, once for each quota that refuses. */
const exceeded = /exceeded quota: ([^,\s]+),/g

function noteRefusals(contests: Map<string, Contest>, event: Event, objects: ObjectsNow): void {
  const { involvedObject, message = '' } = event
  const { kind = '', namespace = '', name = '', uid = '' } = involvedObject ?? {}
  const refused = objects.byUid(uid) ?? objects.find(kind, namespace, name)
  if (refused === undefined) return
  const workload = objectNameOf(objects.workloadOf(refused))
  for (const [, quotaName = ''] of message.matchAll(exceeded)) {
    const quota: ObjectName = { kind: 'ResourceQuota', namespace, name: quotaName }
    const key = nameText(quota)
    const contest = contests.get(key) ?? { quota, workloads: new Map<string, ObjectName>() }
    contests.set(key, contest)
    contest.workloads.set(nameText(workload), workload)
  }
}
