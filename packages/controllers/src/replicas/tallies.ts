import type { Pod } from '@coracle/api'
import { type Aggregate, splitKey } from '@coracle/client'
import { controllerOf } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { type CountingRule, isSameRule, ReplicaTally } from './tally.ts'

/**
 * The counts of many objects' pods, kept up to date by the cache of pods. A pod's change costs what it costs one object; an
 * object's pods are walked when it is first asked for, when what decides how they count has changed, and when the clock has been put back.
 */
export class ReplicaTallies implements Aggregate<Pod> {
  /** With the namespace of the object: pods of others that name it are none of its own. */
  readonly #byUid = new Map<string, { readonly namespace: string | undefined; readonly tally: ReplicaTally }>()
  readonly #uidByKey = new Map<string, string>()

  add(pod: Pod): void {
    this.#tallyOf(pod)?.add(pod)
  }

  remove(pod: Pod): void {
    this.#tallyOf(pod)?.remove(pod)
  }

  /** The count of the object of this key and identity, whose pods `owned` walks, to be read now. */
  of(key: string, uid: string, rule: CountingRule, owned: () => readonly Pod[], nowMs: Time): ReplicaTally {
    if (this.#uidByKey.get(key) !== uid) this.forget(key)
    const existing = this.#byUid.get(uid)?.tally
    if (existing !== undefined && isSameRule(existing.rule, rule) && !existing.isAheadOf(nowMs)) return existing
    const tally = new ReplicaTally(rule, owned())
    this.#byUid.set(uid, { namespace: splitKey(key).namespace, tally })
    this.#uidByKey.set(key, uid)
    return tally
  }

  /** The object under this key is gone. */
  forget(key: string): void {
    this.#byUid.delete(this.#uidByKey.get(key) ?? '')
    this.#uidByKey.delete(key)
  }

  #tallyOf(pod: Pod): ReplicaTally | undefined {
    const owner = controllerOf(pod)
    const counted = owner === undefined ? undefined : this.#byUid.get(owner.uid)
    return counted?.namespace === pod.metadata.namespace ? counted?.tally : undefined
  }
}
