import { kindSchema } from '../../meta.ts'
import { addQuantity, formatQuantity } from '../../quantity.ts'
import { list, object, required, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { column, nameColumn } from '../columns.ts'
import { resourceList } from '../core/common.ts'
import { resourceDefinition } from '../kind.ts'
import { metricsV1beta1 } from '../meta/names.ts'

export interface ContainerMetrics extends Infer<typeof containerMetrics> {}
export const containerMetrics = object(`${metricsV1beta1}.ContainerMetrics`, 'What one container uses.', {
  name: required(string(), 'Name of the container.', { default: '' }),
  usage: required(resourceList, 'What it uses: cpu in cores, memory in bytes.'),
})

/** What the containers of a pod use. It has the name, namespace and labels of the pod. */
export interface PodMetrics extends Infer<typeof podMetricsSchema> {}
export const podMetricsSchema = kindSchema(`${metricsV1beta1}.PodMetrics`, 'What the containers of a pod use.', {
  timestamp: required(time, 'When the usage was measured: the end of the window.'),
  window: required(string(), 'The time that CPU usage is an average of, such as 15s.', { default: '' }),
  containers: required(list(containerMetrics), 'The containers that run.'),
})

/** The usage of pods (metrics.k8s.io). Nothing of it is stored; columns are those of metrics-server. */
export const podMetrics = resourceDefinition<PodMetrics>(podMetricsSchema, {
  plural: 'pods',
  singular: '',
  verbs: ['get', 'list'],
  columns: [
    nameColumn,
    { ...column('cpu', (pod: PodMetrics) => usageOfPod(pod, 'cpu'), ''), format: 'quantity' },
    { ...column('memory', (pod: PodMetrics) => usageOfPod(pod, 'memory'), ''), format: 'quantity' },
    { ...column('Window', ({ window }: PodMetrics) => window, ''), format: 'duration' },
  ],
})

/** What all containers use of a resource. */
function usageOfPod({ containers }: PodMetrics, resource: string): string {
  const amounts = containers.flatMap(({ usage }) => usage[resource] ?? [])
  return amounts.reduce((sum, each) => formatQuantity(addQuantity(sum, each)), '0')
}
