import type { NodeInfo } from '../node-info.ts'
import { nonZeroRequestOf, type PodRequest, podRequestOf, type ResourceAmounts } from '../pod-request.ts'
import { type NodePlugin, type Refusal, scoreMax } from './plugin.ts'

/**
 * The sum of what pods ask for stays within what the node can allocate; so does their number. The more that would be left, the
 * better: CPU and memory count alike. Pods that ask for nothing count as some.
 */
export const nodeResourcesFit: NodePlugin = {
  name: 'NodeResourcesFit',
  scope: 'node',
  weight: 1,
  signature: (spec) => [amountsOf(podRequestOf({ spec })), amountsOf(nonZeroRequestOf({ spec }))],
  filter(pod) {
    const request = podRequestOf(pod)
    return { refuse: (node) => (isRoomy(node, request) ? undefined : shortage(node, request)) }
  },
  scorer(pod) {
    const { milliCpu, memory } = nonZeroRequestOf(pod)
    return {
      score({ allocatable, milliCpuNonZero, memoryNonZero }) {
        // What a node has none of says nothing about it.
        const resources = (allocatable.milliCpu === 0 ? 0 : 1) + (allocatable.memory === 0 ? 0 : 1)
        const cpuLeft = left(allocatable.milliCpu, milliCpuNonZero + milliCpu)
        const sum = cpuLeft + left(allocatable.memory, memoryNonZero + memory)
        return resources === 0 ? 0 : Math.floor(sum / resources)
      },
    }
  },
}

const amountsOf = ({ milliCpu, memory, ephemeralStorage, extended }: PodRequest) =>
  extended.size === 0 ? [milliCpu, memory, ephemeralStorage] : [milliCpu, memory, ephemeralStorage, ...extended]

const shortage = (node: NodeInfo, request: PodRequest): Refusal => ({
  reasons: shortages(node, request),
  isHelpedByEviction: isWithin(request, node.allocatable),
})

/** Whether an empty node would do. */
function isWithin(request: PodRequest, allocatable: ResourceAmounts): boolean {
  return (
    request.milliCpu <= allocatable.milliCpu &&
    request.memory <= allocatable.memory &&
    request.ephemeralStorage <= allocatable.ephemeralStorage &&
    [...request.extended].every(([name, amount]) => amount <= (allocatable.extended.get(name) ?? 0))
  )
}

function isRoomy(node: NodeInfo, request: PodRequest): boolean {
  return (
    node.podCount < node.podsMax &&
    (request.milliCpu === 0 || request.milliCpu <= node.allocatable.milliCpu - node.milliCpu) &&
    (request.memory === 0 || request.memory <= node.allocatable.memory - node.memory) &&
    (request.ephemeralStorage === 0 ||
      request.ephemeralStorage <= node.allocatable.ephemeralStorage - node.ephemeralStorage) &&
    (request.extended.size === 0 || shortExtended(node, request).length === 0)
  )
}

function shortages(node: NodeInfo, request: PodRequest): string[] {
  const { allocatable } = node
  const reasons: string[] = []
  if (node.podCount >= node.podsMax) reasons.push('Too many pods')
  if (request.milliCpu > 0 && request.milliCpu > allocatable.milliCpu - node.milliCpu) reasons.push('Insufficient cpu')
  if (request.memory > 0 && request.memory > allocatable.memory - node.memory) reasons.push('Insufficient memory')
  if (request.ephemeralStorage > 0 && request.ephemeralStorage > allocatable.ephemeralStorage - node.ephemeralStorage) {
    reasons.push('Insufficient ephemeral-storage')
  }
  return [...reasons, ...shortExtended(node, request).map((name) => `Insufficient ${name}`)]
}

function shortExtended(node: NodeInfo, request: PodRequest): string[] {
  return [...request.extended]
    .filter(
      ([name, amount]) =>
        amount > 0 && amount > (node.allocatable.extended.get(name) ?? 0) - (node.extended.get(name) ?? 0),
    )
    .map(([name]) => name)
}

/**
 * The nearer a pod brings CPU and memory to being used alike, or the less it takes them apart, the better: a change for the worse
 * counts from 50, none at all 75, one for the better up to 100. Says nothing about pods that ask for neither: they would all go
 * where they change the balance least.
 */
export const balancedAllocation: NodePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  scope: 'node',
  weight: 1,
  signature(spec) {
    const { milliCpu, memory } = podRequestOf({ spec })
    return [milliCpu, memory]
  },
  scorer(pod) {
    const { milliCpu, memory } = podRequestOf(pod)
    if (milliCpu === 0 && memory === 0) return undefined
    return {
      score(node) {
        const balanceAfter = balance(node, node.milliCpu + milliCpu, node.memory + memory)
        const balanceBefore = balance(node, node.milliCpu, node.memory)
        return scoreMax / 2 + Math.floor((scoreMax / 2 + balanceAfter - balanceBefore) / 2)
      },
    }
  },
}

/** How much alike so much CPU and memory are used, in whole points: 50 where one is used up and the other not at all. */
function balance({ allocatable }: NodeInfo, milliCpu: number, memory: number): number {
  if (allocatable.milliCpu === 0 || allocatable.memory === 0) return scoreMax
  const difference = share(milliCpu, allocatable.milliCpu) - share(memory, allocatable.memory)
  return Math.floor((1 - Math.abs(difference) / 2) * scoreMax)
}

/** Whole points, as upstream counts: each resource is rounded before their mean is taken. */
const left = (capacity: number, used: number): number =>
  capacity === 0 || used > capacity ? 0 : Math.floor(((capacity - used) * scoreMax) / capacity)

const share = (used: number, capacity: number): number => Math.min(1, used / capacity)
