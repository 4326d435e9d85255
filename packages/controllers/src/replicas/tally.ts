import { deepEqual, type LabelSelectorMatcher, type Labels, type Pod, selectorFromMap } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { availableAt, isActive, isReady, isTerminating } from '../pods/pod-state.ts'
import { AvailableCount } from './available-count.ts'
import type { DesiredReplicas } from './desired.ts'

/** What the pods of an object come to. */
export interface ReplicaCounts {
  /** Pods that run or will, and match the selector. */
  readonly replicas: number
  /** Those of them that have all labels of the template. */
  readonly fullyLabeled: number
  readonly ready: number
  readonly available: number
  /** Matching pods that are being deleted and have not ended. They are no replicas any more. */
  readonly terminating: number
  /** When the next ready pod becomes available; undefined where none will by itself. */
  readonly nextAvailableAt: Time | undefined
}

/** What decides how a pod counts. */
export interface CountingRule {
  readonly selector: LabelSelectorMatcher
  readonly templateLabels: Labels | undefined
  readonly minReadySeconds: number
}

/** How the pods of an object that asks for this count. */
export function countingRule({ selector, template, minReadySeconds }: DesiredReplicas): CountingRule {
  return { selector, templateLabels: template?.metadata?.labels, minReadySeconds }
}

/** Whether two rules count alike. */
export function isSameRule(a: CountingRule, b: CountingRule): boolean {
  return (
    a.minReadySeconds === b.minReadySeconds &&
    a.selector.nothing === b.selector.nothing &&
    a.selector.toString() === b.selector.toString() &&
    deepEqual(a.templateLabels, b.templateLabels)
  )
}

/**
 * The count of one object's pods. Adding or removing a pod costs the same however many there are; reading the counts costs
 * nothing.
 */
export class ReplicaTally {
  readonly rule: CountingRule
  readonly #templateLabels: LabelSelectorMatcher
  readonly #available = new AvailableCount()
  readonly #mismatched = new Map<string, Pod>()
  #replicas = 0
  #fullyLabeled = 0
  #ready = 0
  #terminating = 0

  constructor(rule: CountingRule, pods: readonly Pod[] = []) {
    this.rule = rule
    this.#templateLabels = selectorFromMap(rule.templateLabels)
    for (const pod of pods) this.add(pod)
  }

  add(pod: Pod): void {
    this.#count(pod, 1)
    if (this.#isMismatched(pod)) this.#mismatched.set(pod.metadata.uid ?? '', pod)
  }

  /** Takes out a pod, in the very state in which it was added. */
  remove(pod: Pod): void {
    this.#count(pod, -1)
    if (this.#isMismatched(pod)) this.#mismatched.delete(pod.metadata.uid ?? '')
  }

  /** Whether the clock has been put back since this was read last: it has to be made anew. */
  isAheadOf(nowMs: Time): boolean {
    return this.#available.isAheadOf(nowMs)
  }

  /** The counts as of now, which must not be before the time of an earlier call. */
  counts(nowMs: Time): ReplicaCounts {
    const { come, next } = this.#available.at(nowMs)
    return {
      replicas: this.#replicas,
      fullyLabeled: this.#fullyLabeled,
      ready: this.#ready,
      available: come,
      terminating: this.#terminating,
      nextAvailableAt: next,
    }
  }

  /** Pods that run or will, and no longer match the selector. */
  get mismatched(): readonly Pod[] {
    return [...this.#mismatched.values()]
  }

  #count(pod: Pod, by: 1 | -1): void {
    if (!this.rule.selector.matches(pod.metadata.labels)) return
    if (isTerminating(pod)) this.#terminating += by
    if (!isActive(pod)) return
    this.#replicas += by
    if (this.#templateLabels.matches(pod.metadata.labels)) this.#fullyLabeled += by
    if (!isReady(pod)) return
    this.#ready += by
    const at = availableAt(pod, this.rule.minReadySeconds)
    if (by === 1) this.#available.add(at)
    else this.#available.remove(at)
  }

  #isMismatched(pod: Pod): boolean {
    return isActive(pod) && !this.rule.selector.matches(pod.metadata.labels)
  }
}
