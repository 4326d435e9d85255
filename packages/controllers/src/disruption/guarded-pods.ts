import type { LabelSelectorMatcher, OwnerReference, Pod } from '@coracle/api'
import type { Aggregate } from '@coracle/client'
import { controllerOf, labelTerms, selectorTerms } from '@coracle/controller-runtime'
import { isReady } from '../pods/pod-state.ts'

/** What the pods come to that a budget guards. */
export interface GuardedPods {
  readonly total: number
  /** Pods that are ready and not going. */
  readonly healthy: number
  /** What controls them: each once. */
  readonly controllers: readonly GuardedController[]
  /** Whether nobody controls some of them. */
  readonly hasUnmanaged: boolean
}

export interface GuardedController {
  readonly owner: OwnerReference
  /** One of its pods, by name. */
  readonly podName: string
}

/** Whether a pod is ready and nobody has asked it to go. */
export function isHealthy(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod)
}

/** The count of one budget's pods; adding or removing one costs the same however many there are. */
export class GuardedTally implements Aggregate<Pod> {
  readonly #podNames = new Map<string, { readonly owner: OwnerReference; readonly names: Set<string> }>()
  #total = 0
  #healthy = 0
  #unmanaged = 0

  add(pod: Pod): void {
    this.#count(pod, 1)
    const owner = controllerOf(pod)
    if (owner === undefined) return
    const entry = this.#podNames.get(owner.uid) ?? { owner, names: new Set() }
    entry.names.add(pod.metadata.name ?? '')
    this.#podNames.set(owner.uid, entry)
  }

  /** Takes out a pod, in the very state in which it was added. */
  remove(pod: Pod): void {
    this.#count(pod, -1)
    const uid = controllerOf(pod)?.uid ?? ''
    const names = this.#podNames.get(uid)?.names
    names?.delete(pod.metadata.name ?? '')
    if (names?.size === 0) this.#podNames.delete(uid)
  }

  get guarded(): GuardedPods {
    const controllers = [...this.#podNames.values()].map(({ owner, names: [podName = ''] }) => ({ owner, podName }))
    return { total: this.#total, healthy: this.#healthy, controllers, hasUnmanaged: this.#unmanaged > 0 }
  }

  #count(pod: Pod, by: 1 | -1): void {
    this.#total += by
    if (isHealthy(pod)) this.#healthy += by
    if (controllerOf(pod) === undefined) this.#unmanaged += by
  }
}

interface Budget {
  readonly namespace: string
  readonly selector: LabelSelectorMatcher
  readonly tally: GuardedTally
}

/**
 * The counts of the pods that budgets guard, kept up to date by the cache of pods. A pod's change costs what it costs its own
 * budgets; pods are walked when a budget is first asked for, and when its selector has changed.
 */
export class GuardedTallies implements Aggregate<Pod> {
  readonly #budgets = new Map<string, Budget>()
  /** The budgets, by what their selectors ask for. */
  readonly #byTerm = new Map<string, Set<Budget>>()

  add(pod: Pod): void {
    for (const { tally } of this.#guarding(pod)) tally.add(pod)
  }

  remove(pod: Pod): void {
    for (const { tally } of this.#guarding(pod)) tally.remove(pod)
  }

  /** The count for the budget of this key. `pods` walks the pods of its namespace. */
  of(key: string, namespace: string, selector: LabelSelectorMatcher, pods: () => readonly Pod[]): GuardedPods {
    const existing = this.#budgets.get(key)
    if (existing !== undefined && isSame(existing.selector, selector)) return existing.tally.guarded
    this.forget(key)
    const budget = { namespace, selector, tally: new GuardedTally() }
    this.#budgets.set(key, budget)
    for (const term of selectorTerms(namespace, selector)) {
      const budgets = this.#byTerm.get(term) ?? new Set()
      this.#byTerm.set(term, budgets.add(budget))
    }
    for (const pod of pods()) if (selector.matches(pod.metadata.labels)) budget.tally.add(pod)
    return budget.tally.guarded
  }

  /** The budget of this key is gone. */
  forget(key: string): void {
    const budget = this.#budgets.get(key)
    if (budget === undefined) return
    this.#budgets.delete(key)
    for (const term of selectorTerms(budget.namespace, budget.selector)) {
      const budgets = this.#byTerm.get(term)
      if (budgets?.delete(budget) && budgets.size === 0) this.#byTerm.delete(term)
    }
  }

  #guarding({ metadata: { namespace, labels } }: Pod): readonly Budget[] {
    if (this.#budgets.size === 0) return []
    return labelTerms(namespace, labels)
      .flatMap((term) => [...(this.#byTerm.get(term) ?? [])])
      .filter(({ selector }) => selector.matches(labels))
  }
}

function isSame(a: LabelSelectorMatcher, b: LabelSelectorMatcher): boolean {
  return a === b || (a.nothing === b.nothing && a.toString() === b.toString())
}
