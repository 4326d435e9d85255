import {
  addQuantities,
  formatQuantity,
  type Node,
  type Pod,
  parseQuantity,
  podLimits,
  podRequests,
  quantityMilli,
  quantityValue,
  type ResourceList,
  type ResourceQuantities,
  specOnNode,
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
  const requests = sum(running.map((pod) => podRequests(specOnNode(pod))))
  const limits = sum(running.map((pod) => podLimits(specOnNode(pod))))
  for (const name of namesOf(total)) {
    text.line(1, `${name}\t${shareText(requests, name, total)}\t${shareText(limits, name, total)}`)
  }
}

function podLine(pod: Pod, total: ResourceList, nowMs: number): string {
  const { namespace = '', name = '', creationTimestamp } = pod.metadata
  const [requests, limits] = [podRequests(specOnNode(pod)), podLimits(specOnNode(pod))]
  const shares = ['cpu', 'memory'].flatMap((resource) => [
    shareText(requests, resource, total),
    shareText(limits, resource, total),
  ])
  return [namespace, name, '', ...shares, timeSince(creationTimestamp, nowMs)].join('\t')
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

const standardNames = ['cpu', 'memory', 'ephemeral-storage']

/** Resources in the order in which they are shown: those every node has, huge pages, and what else a node offers. */
function namesOf(total: ResourceList): readonly string[] {
  const others = Object.keys(total)
    .filter((name) => !standardNames.includes(name) && name !== 'pods')
    .sort()
  return [...standardNames, ...others.filter(isHugePages), ...others.filter((name) => !isHugePages(name))]
}

/** `100m (5%)`; what is neither standard nor huge pages has no share. */
function shareText(resources: ResourceQuantities, name: string, total: ResourceList): string {
  const amount = resources.get(name) ?? parseQuantity('0')
  if (!standardNames.includes(name) && !isHugePages(name)) return formatQuantity(amount)
  const units = name === 'cpu' ? quantityMilli : quantityValue
  const whole = units(total[name] ?? '0')
  const percent = whole === 0 ? 0 : Math.trunc((units(amount) / whole) * 100)
  return `${formatQuantity(amount)} (${percent}%)`
}

const sum = (each: readonly ResourceQuantities[]): ResourceQuantities => each.reduce(addQuantities, new Map())
