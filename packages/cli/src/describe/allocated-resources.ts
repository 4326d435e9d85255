import {
  addQuantities,
  formatQuantity,
  type Node,
  type Pod,
  parseQuantity,
  podLimits,
  podRequests,
  quantityToNumber,
  type ResourceList,
  type ResourceQuantities,
  timeSince,
} from '@coracle/api'
import type { Description } from './description.ts'

/** The pods at work on a node with what they ask for, and the sums of that (describe.go's describeNodeResource). */
export function describeAllocatedResources(text: Description, node: Node, pods: readonly Pod[], nowMs: number): void {
  const running = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
  const total: ResourceList = node.status?.allocatable ?? node.status?.capacity ?? {}
  text
    .line(0, `Non-terminated Pods:\t(${running.length} in total)`)
    .line(1, 'Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge')
    .line(1, '---------\t----\t\t------------\t----------\t---------------\t-------------\t---')
  for (const pod of running) text.line(1, podLine(pod, total, nowMs))
  text
    .heading(0, 'Allocated resources')
    .line(1, '(Total limits may be over 100 percent, i.e., overcommitted.)')
    .line(1, 'Resource\tRequests\tLimits')
    .line(1, '--------\t--------\t------')
  const requests = sum(running.map(({ spec }) => podRequests(spec)))
  const limits = sum(running.map(({ spec }) => podLimits(spec)))
  for (const name of namesOf(total)) {
    text.line(1, `${name}\t${shareText(requests, name, total)}\t${shareText(limits, name, total)}`)
  }
}

function podLine(pod: Pod, total: ResourceList, nowMs: number): string {
  const { namespace = '', name = '', creationTimestamp } = pod.metadata
  const [requests, limits] = [podRequests(pod.spec), podLimits(pod.spec)]
  const shares = ['cpu', 'memory'].flatMap((resource) => [
    shareText(requests, resource, total),
    shareText(limits, resource, total),
  ])
  return [namespace, name, '', ...shares, timeSince(creationTimestamp, nowMs)].join('\t')
}

const standardNames = ['cpu', 'memory', 'ephemeral-storage']

/** Resources in the order in which they are shown: those every node has, huge pages, and what else a node offers. */
function namesOf(total: ResourceList): readonly string[] {
  const others = Object.keys(total)
    .filter((name) => !standardNames.includes(name) && name !== 'pods')
    .sort()
  const isHugePages = (name: string): boolean => name.startsWith('hugepages-')
  return [...standardNames, ...others.filter(isHugePages), ...others.filter((name) => !isHugePages(name))]
}

/** `100m (5%)`; resources of vendors have no share. */
function shareText(resources: ResourceQuantities, name: string, total: ResourceList): string {
  const amount = resources.get(name) ?? parseQuantity('0')
  if (name.includes('/')) return formatQuantity(amount)
  const whole = quantityToNumber(total[name] ?? '0')
  const percent = whole === 0 ? 0 : Math.trunc((quantityToNumber(amount) / whole) * 100)
  return `${formatQuantity(amount)} (${percent}%)`
}

const sum = (each: readonly ResourceQuantities[]): ResourceQuantities => each.reduce(addQuantities, new Map())
