import { addQuantity, compareQuantity, formatQuantity } from '../../../quantity.ts'
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
  const requests = sum(all.map((each) => each.requests))
  const limits = sum(all.map((each) => each.limits))
  const names = Object.keys(requests)
  if (names.length === 0 && Object.keys(limits).length === 0) return 'BestEffort'
  const limited = all.every((each) => computeResources.every((name) => isPositive(each.limits?.[name])))
  const same = names.every((name) => compareQuantity(requests[name] ?? '0', limits[name] ?? '0') === 0)
  return limited && same && names.length === Object.keys(limits).length ? 'Guaranteed' : 'Burstable'
}

/** The resources that decide. */
const computeResources = ['cpu', 'memory'] as const

function requirements(spec: PodSpec): readonly ResourceRequirements[] {
  const whole = spec.resources
  if (whole !== undefined && (whole.requests !== undefined || whole.limits !== undefined)) return [whole]
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((each) => each.resources ?? {})
}

const isPositive = (amount: string | undefined): boolean => amount !== undefined && compareQuantity(amount, '0') > 0

function sum(lists: readonly (ResourceList | undefined)[]): ResourceList {
  const total: Record<string, string> = {}
  for (const list of lists) {
    for (const name of computeResources) {
      const amount = list?.[name]
      if (amount === undefined || !isPositive(amount)) continue
      const before = total[name]
      total[name] = before === undefined ? amount : formatQuantity(addQuantity(before, amount))
    }
  }
  return total
}
