import { claimsOfPod, type Labels } from '@coracle/api'
import type { Storage } from '../storage/storage.ts'
import type { ClusterPlugin, Refusal } from './plugin.ts'

const conflict: Refusal = { reasons: ['node(s) had no available volume zone'], isHelpedByEviction: false }

/** Each label by which volumes and nodes say where they are, and the names it has had. */
const topologyLabels: readonly (readonly string[])[] = [
  ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'],
  ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'],
]

/** Between the zones of a volume that is in several. */
const zoneSeparator = '__'

/** Pods come to nodes in the zones and regions that the labels of their volumes name. */
export function volumeZone(storage: Storage): ClusterPlugin {
  return {
    name: 'VolumeZone',
    scope: 'cluster',
    signature: (pod) => [pod.metadata.namespace, claimsOfPod(pod)],
    filter(pod) {
      const claims = claimsOfPod(pod)
      if (claims.length === 0) return undefined
      const wanted = claims.flatMap((name) => {
        const { volumeName } = storage.claim(pod.metadata.namespace, name)?.spec ?? {}
        return topologyOf(storage.volume(volumeName ?? '')?.metadata.labels)
      })
      if (wanted.length === 0) return undefined
      return {
        refuse({ node: { metadata } }) {
          const { labels = {} } = metadata
          // In a cluster whose nodes say nothing of zones, all are taken to be in one.
          if (topologyOf(labels).length === 0) return undefined
          const isThere = ({ names, values }: Topology) =>
            names.some((name) => values.has(labels[name] ?? zoneSeparator))
          return wanted.every(isThere) ? undefined : conflict
        },
        add: () => {},
        remove: () => {},
      }
    },
    isHelpedBy(pod, event) {
      if (event.type === 'claim-changed') {
        const { namespace, name = '' } = event.claim.metadata
        return namespace === pod.metadata.namespace && claimsOfPod(pod).includes(name)
      }
      return event.type === 'volume-changed'
    },
  }
}

interface Topology {
  readonly names: readonly string[]
  readonly values: ReadonlySet<string>
}

const topologyOf = (labels: Labels = {}): readonly Topology[] =>
  topologyLabels.flatMap((names) => {
    const found = names.find((name) => labels[name] !== undefined)
    return found === undefined ? [] : [{ names, values: new Set((labels[found] ?? '').split(zoneSeparator)) }]
  })
