/**
 * How many replicas a metric asks for, by upstream's rules (pkg/controller/podautoscaler/replica_calculator.go). Pods of which
 * nothing is known are taken to be such that the count changes less: as using all of their share before it shrinks, and nothing
 * before it grows. Values are in thousandths, and averages are cut to whole ones.
 */
import type { Pod } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { isReady } from '../pods/pod-state.ts'
import { groupPods, type PodGroups } from './pod-groups.ts'
import type { PodReadings } from './readings.ts'
import { requestsOf } from './requests.ts'

/** How far a metric may be off its target, as a fraction of it, before the count changes. */
export interface Tolerances {
  readonly up: number
  readonly down: number
}

/** What everything that is computed begins with. */
export interface Basis {
  /** The count that is asked for now. */
  readonly replicas: number
  /** The count there is. */
  readonly statusReplicas: number
  /** The pods that the target selects. */
  readonly pods: readonly Pod[]
  readonly tolerances: Tolerances
  readonly nowMs: Time
}

/** What a metric asks for, and what it was; a text where that cannot be told. */
export type Calculation =
  | { readonly replicas: number; readonly millis: number; readonly percent?: number }
  | { readonly error: string }

/** By how much of what they request pods use of a resource, in percent. */
export function replicasByUtilization(
  basis: Basis,
  readings: PodReadings,
  { resource, container, targetPercent }: { resource: string; container: string; targetPercent: number },
): Calculation {
  const { pods, nowMs } = basis
  if (pods.length === 0) return { error: noPods }
  const groups = groupPods(pods, readings, resource, nowMs)
  if (groups.readings.size === 0) return { error: noReadings }
  const requests = requestsOf(pods, resource, container)
  if ('error' in requests) return requests
  const utilization = utilizationOf(groups.readings, requests)
  if (utilization === undefined) return { error: 'no metrics returned matched known pods' }
  const { percent, averageMillis } = utilization
  const replicas = replicasFor(basis, groups, {
    ratio: percent / targetPercent,
    // All of the request, or more where more is wanted.
    full: (name) => Math.trunc(((requests.get(name) ?? 0) * Math.max(100, targetPercent)) / 100),
    ratioOf: (filled) => (utilizationOf(filled, requests)?.percent ?? 0) / targetPercent,
  })
  return { replicas, millis: averageMillis, percent }
}

/** By what pods use or have on average, each to have `targetMillis`. The resource is empty for what is none. */
export function replicasByAverage(
  basis: Basis,
  readings: PodReadings,
  { resource, targetMillis }: { resource: string; targetMillis: number },
): Calculation {
  const { pods, nowMs } = basis
  if (pods.length === 0) return { error: noPods }
  const groups = groupPods(pods, readings, resource, nowMs)
  if (groups.readings.size === 0) return { error: noReadings }
  const millis = averageOf(groups.readings)
  const replicas = replicasFor(basis, groups, {
    ratio: millis / targetMillis,
    full: () => targetMillis,
    ratioOf: (filled) => averageOf(filled) / targetMillis,
  })
  return { replicas, millis }
}

/** By one value for all pods together, which is to be `targetMillis`. */
export function replicasByValue(basis: Basis, millis: number, targetMillis: number): Calculation {
  const { replicas, pods, tolerances } = basis
  const ratio = millis / targetMillis
  // With none there is nothing to multiply: from zero it goes by the value alone.
  if (replicas === 0) return { replicas: wholeCount(ratio), millis }
  if (isWithin(tolerances, ratio)) return { replicas, millis }
  if (pods.length === 0) return { error: `unable to calculate ready pods: ${noPods}` }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length
  return { replicas: wholeCount(ratio * ready), millis }
}

/** By one value for all pods together, of which each is to have `targetMillis`. The value told is the share of each. */
export function replicasByShare(basis: Basis, millis: number, targetMillis: number): Calculation {
  const { statusReplicas, tolerances } = basis
  const ratio = millis / (targetMillis * statusReplicas)
  const replicas = isWithin(tolerances, ratio) ? statusReplicas : wholeCount(millis / targetMillis)
  return { replicas, millis: statusReplicas === 0 ? millis : Math.ceil(millis / statusReplicas) }
}

const noPods = 'no pods returned by selector while calculating replica count'
const noReadings = 'did not receive metrics for targeted pods (pods might be unready)'

/** How to compare readings with what is wanted of them. */
interface Comparison {
  /** Of the readings that count: above 1 there is more than wanted. */
  readonly ratio: number
  /** What a pod that uses its whole share would have. */
  full(podName: string): number
  ratioOf(readings: PodReadings): number
}

function replicasFor({ replicas, tolerances }: Basis, groups: PodGroups, comparison: Comparison): number {
  const { ratio } = comparison
  const { readyCount, missing, unready } = groups
  const fillsUnready = unready.length > 0 && ratio > 1
  if (!fillsUnready && missing.length === 0) {
    return isWithin(tolerances, ratio) ? replicas : wholeCount(ratio * readyCount)
  }
  const filled = new Map(groups.readings)
  const fill = (name: string, millis: number): void => void filled.set(name, { millis, atMs: 0, windowMs: 0 })
  if (ratio < 1) for (const name of missing) fill(name, comparison.full(name))
  if (ratio > 1) for (const name of missing) fill(name, 0)
  if (fillsUnready) for (const name of unready) fill(name, 0)
  const newRatio = comparison.ratioOf(filled)
  const turnsAround = (ratio < 1 && newRatio > 1) || (ratio > 1 && newRatio < 1)
  if (isWithin(tolerances, newRatio) || turnsAround) return replicas
  const proposed = wholeCount(newRatio * filled.size)
  const contradicts = (newRatio < 1 && proposed > replicas) || (newRatio > 1 && proposed < replicas)
  return contradicts ? replicas : proposed
}

const isWithin = ({ up, down }: Tolerances, ratio: number): boolean => ratio >= 1 - down && ratio <= 1 + up

/** Counts are 32-bit integers. */
const wholeCount = (count: number): number => Math.min(Math.ceil(count), 2 ** 31 - 1)

function averageOf(readings: PodReadings): number {
  const sum = readings.values().reduce((total, { millis }) => total + millis, 0)
  return readings.size === 0 ? 0 : Math.trunc(sum / readings.size)
}

/** Of the pods of which both is known what they use and what they request. */
function utilizationOf(readings: PodReadings, requests: ReadonlyMap<string, number>) {
  let used = 0
  let requested = 0
  let count = 0
  for (const [name, { millis }] of readings) {
    const request = requests.get(name)
    if (request === undefined) continue
    used += millis
    requested += request
    count += 1
  }
  if (requested === 0) return undefined
  return { percent: Math.trunc((used * 100) / requested), averageMillis: Math.trunc(used / count) }
}
