import { type Binding, nodes, type Pod, pods } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { createsPod } from './pods.ts'
import { storedObject } from './stored-objects.ts'

/** The labels of a node that say where it is. */
const topologyLabels = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'] as const

/**
 * A pod has the labels of its node that say where it is, so that it can read them of itself: from the time it is bound, or from
 * the start where it names its node (https://kep.k8s.io/4742).
 */
export function podTopologyLabels(registries: Registries): AdmissionPlugin {
  const labelsOf = (nodeName: string): Readonly<Record<string, string>> => {
    const { labels = {} } = storedObject(registries, nodes, nodeName)?.metadata ?? {}
    return Object.fromEntries(
      topologyLabels.flatMap((key) => {
        const value = labels[key]
        return value === undefined ? [] : [[key, value]]
      }),
    )
  }
  return {
    name: 'PodTopologyLabels',
    concerns: (target) => createsPod(target) || bindsPod(target),
    mutate(attributes, object) {
      const nodeName = bindsPod(attributes) ? (object as Partial<Binding>).target?.name : (object as Pod).spec.nodeName
      if (object === undefined || nodeName === undefined || nodeName === '') return object
      const added = labelsOf(nodeName)
      if (Object.keys(added).length === 0) return object
      return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...added } } }
    },
  }
}

const bindsPod = ({ operation, definition, subresource }: AdmissionTarget): boolean =>
  operation === 'CREATE' && subresource === 'binding' && definition.group === '' && definition.plural === pods.plural
