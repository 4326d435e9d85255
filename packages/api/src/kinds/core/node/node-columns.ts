import { compareText } from '../../../compare-text.ts'
import { ageColumn, type ColumnSource, column, nameColumn, wideColumn } from '../../columns.ts'
import type { Node } from './node-schema.ts'

/** The columns that `kubectl get nodes` shows (printers/internalversion printNode). */
export const nodeColumns: readonly ColumnSource<Node>[] = [
  nameColumn,
  column('Status', readiness, 'Whether the node is ready, and whether new pods are kept off it.'),
  column('Roles', roles, 'What the node is for.'),
  ageColumn,
  column('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? '', {
    field: 'status.nodeInfo.kubeletVersion',
  }),
  wideColumn('Internal-IP', (node) => addressOf(node, 'InternalIP'), 'Address of the node within the cluster.'),
  wideColumn('External-IP', (node) => addressOf(node, 'ExternalIP'), 'Address of the node from outside.'),
  wideColumn('OS-Image', ({ status }) => status?.nodeInfo?.osImage || '<unknown>', {
    field: 'status.nodeInfo.osImage',
  }),
  wideColumn('Kernel-Version', kernelVersion, {
    field: 'status.nodeInfo.kernelVersion',
  }),
  wideColumn('Container-Runtime', ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>', {
    field: 'status.nodeInfo.containerRuntimeVersion',
  }),
]

/** With the architecture that it is for. */
function kernelVersion({ status }: Node): string {
  const { kernelVersion: version, architecture } = status?.nodeInfo ?? {}
  return `${version || '<unknown>'}${architecture ? ` (${architecture})` : ''}`
}

function readiness({ spec, status }: Node): string {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable === true ? `${state},SchedulingDisabled` : state
}

const rolePrefix = 'node-role.kubernetes.io/'

function roles({ metadata }: Node): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) found.add(key.slice(rolePrefix.length))
    if (key === 'kubernetes.io/role' && value !== '') found.add(value)
  }
  return [...found].sort(compareText).join(',') || '<none>'
}

function addressOf({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? '<none>'
}
