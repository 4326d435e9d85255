import { claimsOfPod, type Labels } from '@coracle/api'
import type { Storage } from '../storage/storage.ts'
import type { ClusterFilter, ClusterPlugin, Refusal } from './plugin.ts'

const conflict: Refusal = { reasons: ['node(s) had no available volume zone'], isHelpedByEviction: false }

/** The labels by which volumes and nodes say where they are; former names with the ones that nodes may have in their place. */
const topologyLabels: readonly { readonly name: string; readonly now?: string }[] = [
  { name: 'failure-domain.beta.kubernetes.io/zone', now: 'topology.kubernetes.io/zone' },
  { name: 'failure-domain.beta.kubernetes.io/region', now: 'topology.kubernetes.io/region' },
  { name: 'topology.kubernetes.io/zone' },
  { name: 'topology.kubernetes.io/region' },
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
      const wanted: Topology[] = []
      for (const name of claims) {
        const { volumeName } = storage.claim(pod.metadata.namespace, name)?.spec ?? {}
        if (!volumeName) continue
        const volume = storage.volume(volumeName)
        if (volume === undefined) return rejectingAll(`persistentvolume ${JSON.stringify(volumeName)} not found`)
        wanted.push(...topologiesOf(volume.metadata.labels))
      }
      if (wanted.length === 0) return undefined
      return {
        refuse({ node: { metadata } }) {
          const { labels = {} } = metadata
          // In a cluster whose nodes say nothing of zones, all are taken to be in one.
          if (topologyLabels.every(({ name }) => labels[name] === undefined)) return undefined
          return wanted.every((each) => isIn(each, labels)) ? undefined : conflict
        },
        add: doNothing,
        remove: doNothing,
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

const doNothing = (): void => {}

const rejectingAll = (reason: string): ClusterFilter => ({
  rejection: { reasons: [reason], isHelpedByEviction: false },
  refuse: () => undefined,
  add: doNothing,
  remove: doNothing,
})

/** A label of a volume: where it can be used. */
interface Topology {
  /** Names of the label that a node may have. The first that it has counts. */
  readonly names: readonly string[]
  readonly values: ReadonlySet<string>
}

/** Where a volume can be used. A label that names an empty zone says nothing. */
const topologiesOf = (labels: Labels = {}): readonly Topology[] =>
  topologyLabels.flatMap(({ name, now }) => {
    const values = new Set(labels[name]?.split(zoneSeparator))
    if (values.size === 0 || values.has('')) return []
    return [{ names: now === undefined ? [name] : [name, now], values }]
  })

function isIn({ names, values }: Topology, labels: Labels): boolean {
  const name = names.find((each) => labels[each] !== undefined)
  return name !== undefined && values.has(labels[name] ?? '')
}
