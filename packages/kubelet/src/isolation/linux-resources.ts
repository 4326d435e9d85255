import { type Container, isSidecar, type Pod, podLimits, podRequests, quantityMilli, quantityValue } from '@coracle/api'
import type { LinuxResources, SandboxResources } from '../runtimes/runtime.ts'

/** Weight of one whole core, and the least there is. */
const sharesPerCore = 1024
const sharesMin = 2
const sharesMax = 262_144
/** Time is given out in pieces of this many microseconds; a container gets at least so many of them. */
const cpuPeriod = 100_000
const cpuQuotaMin = 1_000

/** How readily processes are killed where memory runs out: hardly, and before all others (upstream's qos/policy.go). */
const oomScoreGuaranteed = -997
const oomScoreMax = 1_000

/**
 * What a container may use, as upstream's kubelet tells runtimes: its weight by what it asks for, its limits, and how readily it is killed
 * where memory runs out, by the quality of service of its pod. A container without limits of its own has those of its pod; one that asks for
 * no CPU asks for as much as it may use.
 */
export function linuxResources(container: Container, pod: Pod, nodeMemoryBytes: number): LinuxResources {
  const { requests = {}, limits = {} } = container.resources ?? {}
  const { limits: shared = {} } = pod.spec.resources ?? {}
  // A limit of 0 is none.
  const cpuLimit = milli(limits.cpu) || milli(shared.cpu)
  return {
    ...resourcesOf(requests.cpu === undefined ? cpuLimit : milli(requests.cpu), cpuLimit),
    memoryLimitBytes: value(limits.memory) || value(shared.memory),
    oomScoreAdj: oomScoreAdj(container, pod, nodeMemoryBytes),
  }
}

/** What the containers of a pod may use together, which is no more than the most that they need at one time. */
export function sandboxResources({ spec }: Pod): SandboxResources {
  const own = { ...spec, overhead: undefined }
  const [requests, limits] = [podRequests(own), podLimits(own)]
  const [cpuRequest, cpuLimit, memoryLimit] = [requests.get('cpu'), limits.get('cpu'), limits.get('memory')]
  const limitMilli = cpuLimit === undefined ? 0 : quantityMilli(cpuLimit)
  return {
    ...resourcesOf(cpuRequest === undefined ? limitMilli : quantityMilli(cpuRequest), limitMilli),
    memoryLimitBytes: memoryLimit === undefined ? 0 : quantityValue(memoryLimit),
  }
}

/** What a runtime takes for itself with a pod: it is guaranteed that, and has no more. Undefined where its class does not say. */
export function sandboxOverhead({ spec: { overhead } }: Pod): SandboxResources | undefined {
  if (overhead === undefined) return undefined
  const cpu = milli(overhead.cpu)
  return { ...resourcesOf(cpu, cpu), memoryLimitBytes: value(overhead.memory) }
}

const resourcesOf = (requestMilli: number, limitMilli: number) => ({
  cpuShares: cpuShares(requestMilli),
  cpuQuota: cpuQuota(limitMilli),
  cpuPeriod,
})

const value = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityValue(quantity))

const milli = (quantity: string | undefined): number => (quantity === undefined ? 0 : quantityMilli(quantity))

const cpuShares = (milliCores: number): number =>
  Math.min(sharesMax, Math.max(sharesMin, Math.floor((milliCores * sharesPerCore) / 1000)))

const cpuQuota = (milliCores: number): number =>
  milliCores === 0 ? 0 : Math.max(cpuQuotaMin, Math.floor((milliCores * cpuPeriod) / 1000))

function oomScoreAdj(container: Container, pod: Pod, nodeMemoryBytes: number): number {
  const { qosClass = 'BestEffort' } = pod.status ?? {}
  if (qosClass === 'Guaranteed' || pod.spec.priorityClassName === 'system-node-critical') return oomScoreGuaranteed
  if (qosClass === 'BestEffort') return oomScoreMax
  // The more it was promised of the node, the later it goes; and a sidecar no sooner than those that it serves.
  const served = isSidecar(container) ? Math.min(...pod.spec.containers.map(memoryRequest)) : 0
  const promised = Math.max(memoryRequest(container), served) + memoryLeft(pod)
  const score = oomScoreMax - Math.floor((oomScoreMax * promised) / nodeMemoryBytes)
  return Math.min(oomScoreMax - 1, Math.max(oomScoreMax + oomScoreGuaranteed, score))
}

/** What a pod asks for as a whole and its containers do not, as much of it for each of them (KEP-2837). */
function memoryLeft({ spec }: Pod): number {
  const { containers, initContainers = [], resources } = spec
  const asked = quantityValue(resources?.requests?.memory ?? '0')
  if (asked === 0) return 0
  const ofContainers = quantityValue(podRequests({ containers, initContainers }).get('memory') ?? '0')
  return Math.trunc((asked - ofContainers) / (containers.length + initContainers.length))
}

const memoryRequest = ({ resources }: Container): number => value(resources?.requests?.memory)
