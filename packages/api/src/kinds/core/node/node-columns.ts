import { compareText } from '../../../compare-text.ts'
import type { Column } from '../../../resource.ts'
import { ageColumn, nameColumn } from '../../columns.ts'
import type { Node } from './node-schema.ts'

/** The columns that `kubectl get nodes` shows (printers/internalversion printNode). */
export const nodeColumns: readonly Column<Node>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'Whether the node is ready, and whether new pods are kept off it.',
    priority: 0,
    cell: readiness,
  },
  { name: 'Roles', type: 'string', description: 'What the node is for.', priority: 0, cell: roles },
  ageColumn,
  {
    name: 'Version',
    type: 'string',
    description: 'Version of the node agent.',
    priority: 0,
    cell: ({ status }) => status?.nodeInfo?.kubeletVersion ?? '',
  },
  {
    name: 'Internal-IP',
    type: 'string',
    description: 'Address of the node within the cluster.',
    priority: 1,
    cell: (node) => addressOf(node, 'InternalIP'),
  },
  {
    name: 'External-IP',
    type: 'string',
    description: 'Address of the node from outside.',
    priority: 1,
    cell: (node) => addressOf(node, 'ExternalIP'),
  },
  {
    name: 'OS-Image',
    type: 'string',
    description: 'Name and version of the operating system.',
    priority: 1,
    cell: ({ status }) => status?.nodeInfo?.osImage || '<unknown>',
  },
  {
    name: 'Kernel-Version',
    type: 'string',
    description: 'Version of the kernel.',
    priority: 1,
    cell: ({ status }) => status?.nodeInfo?.kernelVersion || '<unknown>',
  },
  {
    name: 'Container-Runtime',
    type: 'string',
    description: 'Container runtime and its version.',
    priority: 1,
    cell: ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
  },
]

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
