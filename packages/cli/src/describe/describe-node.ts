import { type Event, humanDuration, type Node, type Pod, parseTime } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { formatLocalTime } from './local-time.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

const rolePrefix = 'node-role.kubernetes.io/'

/** A node in detail; `pods` are those placed on it. */
export function describeNode(node: Node, pods: readonly Pod[], events: readonly Event[], nowMs: number): string {
  const { metadata, spec, status } = node
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  const roles = Object.keys(metadata.labels ?? {}).filter((key) => key.startsWith(rolePrefix))
  text.field(0, 'Roles', roles.length === 0 ? '<none>' : roles.map((key) => key.slice(rolePrefix.length)).join(','))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.time(0, 'CreationTimestamp', metadata.creationTimestamp)
  const taints = (spec?.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
  text.lines(0, 'Taints', taints)
  text.field(0, 'Unschedulable', spec?.unschedulable === true)
  describeConditions(text, node)
  text.heading(0, 'Addresses')
  for (const { type, address } of status?.addresses ?? []) text.field(1, type, address)
  describeResources(text, 'Capacity', status?.capacity)
  describeResources(text, 'Allocatable', status?.allocatable)
  describeSystem(text, node)
  if (spec?.podCIDR) text.field(0, 'PodCIDR', spec.podCIDR)
  if (spec?.providerID) text.field(0, 'ProviderID', spec.providerID)
  describePods(text, pods, nowMs)
  describeEvents(text, events, nowMs)
  return text.toString()
}

function describeConditions(text: Description, { status }: Node): void {
  const time = (value: string | undefined): string => (value === undefined ? '<unknown>' : formatLocalTime(value))
  const rows = (status?.conditions ?? []).map((each) => [
    `${each.type} `,
    `${each.status} `,
    `${time(each.lastHeartbeatTime)} `,
    `${time(each.lastTransitionTime)} `,
    `${each.reason ?? ''} `,
    each.message ?? '',
  ])
  text.table(0, 'Conditions', ['Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message'], rows)
}

function describeResources(text: Description, label: string, list: Readonly<Record<string, string>> = {}): void {
  const names = Object.keys(list).sort()
  if (names.length === 0) return
  text.heading(0, label)
  for (const name of names) text.field(1, name, list[name] ?? '')
}

function describeSystem(text: Description, { status }: Node): void {
  const info = status?.nodeInfo
  if (info === undefined) return
  text
    .heading(0, 'System Info')
    .field(1, 'Machine ID', info.machineID)
    .field(1, 'System UUID', info.systemUUID)
    .field(1, 'Boot ID', info.bootID)
    .field(1, 'Kernel Version', info.kernelVersion)
    .field(1, 'OS Image', info.osImage)
    .field(1, 'Operating System', info.operatingSystem)
    .field(1, 'Architecture', info.architecture)
    .field(1, 'Container Runtime Version', info.containerRuntimeVersion)
    .field(1, 'Kubelet Version', info.kubeletVersion)
}

function describePods(text: Description, pods: readonly Pod[], nowMs: number): void {
  const running = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
  text.line(0, `Non-terminated Pods:\t(${running.length} in total)`)
  if (running.length === 0) return
  text.line(1, 'Namespace\tName\tAge').line(1, '---------\t----\t---')
  for (const { metadata } of running) {
    const { namespace = '', name = '', creationTimestamp } = metadata
    const age = creationTimestamp === undefined ? '<unknown>' : humanDuration(nowMs - parseTime(creationTimestamp))
    text.line(1, `${namespace}\t${name}\t${age}`)
  }
}
