import { addQuantities, noQuantities, type ResourceQuantities } from '../../../placement/resource-quantities.ts'
import { compareQuantity, parseQuantity, type Quantity } from '../../../quantity.ts'
import type { ResourceList } from '../common.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodQosClass } from './pod-status.ts'
import type { ResourceRequirements } from './resources.ts'

/**
 * How well the resources of a pod are guaranteed (core/helper/qos ComputePodQOS). Guaranteed: every container limits CPU
 * and memory, and requests just that. BestEffort: nothing is asked for at all. Resources of the pod as a whole, where it
 * has some, decide in place of its containers'.
 */
export function computeQos(spec: PodSpec): PodQosClass {
  const all = requirements(spec)
  const requests = all.map((each) => askedFor(each.requests)).reduce(addQuantities, noQuantities)
  const limits = all.map((each) => askedFor(each.limits))
  const limit = limits.reduce(addQuantities, noQuantities)
  if (requests.size === 0 && limit.size === 0) return 'BestEffort'
  const limited = limits.every((each) => each.size === computeResources.length)
  const same = [...requests].every(([name, amount]) => compareQuantity(amount, limit.get(name) ?? '0') === 0)
  return limited && same && requests.size === limit.size ? 'Guaranteed' : 'Burstable'
}

/** The resources that decide. */
const computeResources = ['cpu', 'memory'] as const

function requirements(spec: PodSpec): readonly ResourceRequirements[] {
  const whole = spec.resources
  if (whole !== undefined && (whole.requests !== undefined || whole.limits !== undefined)) return [whole]
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((each) => each.resources ?? {})
}

/** What of a list decides: zero is as good as nothing. */
function askedFor(list: ResourceList | undefined): ResourceQuantities {
  const asked = new Map<string, Quantity>()
  for (const name of computeResources) {
    const text = list?.[name]
    if (text === undefined) continue
    const amount = parseQuantity(text)
    if (amount.nanos > 0n) asked.set(name, amount)
  }
  return asked
}
