import { compareText, type Event, type KubernetesObject, type Lease, type Node, type Pod } from '@coracle/api'
import { describeAllocatedResources } from './allocated-resources.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { formatLocalTime, zeroTime } from './local-time.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

const rolePrefix = 'node-role.kubernetes.io/'
const roleLabel = 'kubernetes.io/role'

/** What a node is there for, by its labels, in order. */
function rolesOf({ metadata }: Node): readonly string[] {
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(rolePrefix) ? key.slice(rolePrefix.length) : key === roleLabel ? value : '',
  )
  return [...new Set(roles.filter((role) => role !== ''))].sort(compareText)
}

/** `key=value:NoSchedule`; of a taint without an effect, what there is (Taint.ToString). */
function taintText({ key, value = '', effect = '' }: NonNullable<NonNullable<Node['spec']>['taints']>[number]): string {
  if (effect === '') return value === '' ? key : `${key}=${value}:`
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`
}

/** Devices of one driver, of a pool of them: what is described of such an object. */
export interface ResourceSlice extends KubernetesObject {
  readonly spec: {
    readonly driver: string
    readonly pool: { readonly name: string }
    readonly devices?: readonly object[]
  }
}

/** What a node's description draws on beside the node. */
export interface NodeSurroundings {
  /** Those placed on it. */
  readonly pods: readonly Pod[]
  /** Its heartbeat, or why it cannot be had. */
  readonly lease: Lease | Error
  /** Devices that drivers have on this node alone. */
  readonly slices: readonly ResourceSlice[]
  /** Absent where they are not wanted. */
  readonly events: readonly Event[] | undefined
}

/** A node in detail. */
export function describeNode(node: Node, { pods, lease, slices, events }: NodeSurroundings, nowMs: number): string {
  const { metadata, spec, status } = node
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  text.field(0, 'Roles', rolesOf(node).join(',') || '<none>')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.timeOrZero(0, 'CreationTimestamp', metadata.creationTimestamp)
  const taints = (spec?.taints ?? []).toSorted((a, b) => compareText(`${a.effect},${a.key}`, `${b.effect},${b.key}`))
  text.lines(0, 'Taints', taints.map(taintText))
  text.field(0, 'Unschedulable', spec?.unschedulable === true)
  describeLease(text, lease)
  describeConditions(text, node)
  text.heading(0, 'Addresses')
  for (const { type, address } of status?.addresses ?? []) text.field(1, type, address)
  describeResources(text, 'Capacity', status?.capacity)
  describeResources(text, 'Allocatable', status?.allocatable)
  describeSlices(text, slices)
  describeSystem(text, node)
  if (spec?.podCIDR) text.field(0, 'PodCIDR', spec.podCIDR)
  if ((spec?.podCIDRs ?? []).length > 0) text.field(0, 'PodCIDRs', (spec?.podCIDRs ?? []).join(','))
  if (spec?.providerID) text.field(0, 'ProviderID', spec.providerID)
  describeAllocatedResources(text, node, pods, nowMs)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** More pools are not shown. */
const poolsMax = 10

function describeSlices(text: Description, slices: readonly ResourceSlice[]): void {
  const pools = Map.groupBy(slices, ({ spec: { driver, pool } }) => `${driver}/${pool.name}`)
  const rows = [...pools]
    .sort(([a], [b]) => compareText(a, b))
    .map(([, of]) => {
      const devices = of.reduce((sum, { spec }) => sum + (spec.devices?.length ?? 0), 0)
      return [of[0]?.spec.driver ?? '', of[0]?.spec.pool.name ?? '', String(of.length), String(devices)]
    })
  if (rows.length === 0) return
  text.heading(0, 'Node-Local ResourceSlices').line(1, 'Driver\tPool\tSlices\tDevices')
  text.line(1, '------\t----\t------\t-------')
  for (const row of rows.slice(0, poolsMax)) text.line(1, row.join('\t'))
  if (rows.length > poolsMax) text.line(1, `...and ${rows.length - poolsMax} more pools`)
}

function describeLease(text: Description, lease: Lease | Error): void {
  if (lease instanceof Error) {
    text.field(0, 'Lease', `Failed to get lease: ${lease.message}`)
    return
  }
  const { holderIdentity = '<unset>', acquireTime, renewTime } = lease.spec ?? {}
  const time = (value: string | undefined): string => (value === undefined ? '<unset>' : formatLocalTime(value))
  text
    .heading(0, 'Lease')
    .field(1, 'HolderIdentity', holderIdentity)
    .field(1, 'AcquireTime', time(acquireTime))
    .field(1, 'RenewTime', time(renewTime))
}

function describeConditions(text: Description, { status }: Node): void {
  const time = (value: string | undefined): string => formatLocalTime(value ?? zeroTime)
  const rows = (status?.conditions ?? []).map((each) => [
    `${each.type} `,
    `${each.status} `,
    `${time(each.lastHeartbeatTime)} `,
    `${time(each.lastTransitionTime)} `,
    `${each.reason ?? ''} `,
    each.message ?? '',
  ])
  if (rows.length === 0) return
  text.heading(0, 'Conditions').line(1, 'Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage')
  text.line(1, '----\t------\t-----------------\t------------------\t------\t-------')
  for (const row of rows) text.line(1, row.join('\t'))
}

function describeResources(text: Description, label: string, list: Readonly<Record<string, string>> = {}): void {
  const names = Object.keys(list).sort()
  if (names.length === 0) return
  text.heading(0, label)
  for (const name of names) text.field(1, name, list[name] ?? '')
}

function describeSystem(text: Description, { status }: Node): void {
  const info: Partial<NonNullable<NonNullable<Node['status']>['nodeInfo']>> = status?.nodeInfo ?? {}
  text
    .heading(0, 'System Info')
    .field(1, 'Machine ID', info.machineID ?? '')
    .field(1, 'System UUID', info.systemUUID ?? '')
    .field(1, 'Boot ID', info.bootID ?? '')
    .field(1, 'Kernel Version', info.kernelVersion ?? '')
    .field(1, 'OS Image', info.osImage ?? '')
    .field(1, 'Operating System', info.operatingSystem ?? '')
    .field(1, 'Architecture', info.architecture ?? '')
    .field(1, 'Container Runtime Version', info.containerRuntimeVersion ?? '')
    .field(1, 'Kubelet Version', info.kubeletVersion ?? '')
}
