import { kindSchema } from '../../meta.ts'
import { required, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { column, nameColumn } from '../columns.ts'
import { resourceList } from '../core/common.ts'
import { resourceDefinition } from '../kind.ts'
import { metricsV1beta1 } from '../meta/names.ts'

/** What a node uses. It has the name and labels of the node. */
export interface NodeMetrics extends Infer<typeof nodeMetricsSchema> {}
export const nodeMetricsSchema = kindSchema(`${metricsV1beta1}.NodeMetrics`, 'What a node uses.', {
  timestamp: required(time, 'When the usage was measured: the end of the window.'),
  window: required(string(), 'The time that CPU usage is an average of, such as 15s.', { default: '' }),
  usage: required(resourceList, 'What it uses: cpu in cores, memory in bytes.'),
})

/** The usage of nodes (metrics.k8s.io). Nothing of it is stored; columns are those of metrics-server. */
export const nodeMetrics = resourceDefinition<NodeMetrics>(nodeMetricsSchema, {
  plural: 'nodes',
  singular: '',
  namespaced: false,
  verbs: ['get', 'list'],
  columns: [
    nameColumn,
    { ...column('cpu', ({ usage }: NodeMetrics) => usage.cpu ?? '0', ''), format: 'quantity' },
    { ...column('memory', ({ usage }: NodeMetrics) => usage.memory ?? '0', ''), format: 'quantity' },
    { ...column('Window', ({ window }: NodeMetrics) => window, ''), format: 'duration' },
  ],
})
