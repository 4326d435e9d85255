import { deepEqual, type Node, type NodeSelector, type NodeSelectorRequirement } from '@coracle/api'
import type { PooledDevice } from './pools.ts'

/** The nodes where all of these devices can be used; undefined where that is every node. */
export function nodeSelectorFor(devices: readonly PooledDevice[], node: Node): NodeSelector | undefined {
  const isLocal = devices.some(({ place, device }) => place.nodeName !== undefined || device.bindsToNode === true)
  if (isLocal) {
    const name = { key: 'metadata.name', operator: 'In' as const, values: [node.metadata.name ?? ''] }
    return { nodeSelectorTerms: [{ matchFields: [name] }] }
  }
  // A selector of a slice has one term, so that those of several can be joined.
  const terms = devices.flatMap(({ place }) => place.nodeSelector?.nodeSelectorTerms ?? [])
  const matchExpressions = distinct(terms.flatMap((term) => term.matchExpressions ?? []))
  const matchFields = distinct(terms.flatMap((term) => term.matchFields ?? []))
  if (matchExpressions.length + matchFields.length === 0) return undefined
  return {
    nodeSelectorTerms: [
      {
        ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
        ...(matchFields.length === 0 ? {} : { matchFields }),
      },
    ],
  }
}

const distinct = (all: readonly NodeSelectorRequirement[]): readonly NodeSelectorRequirement[] =>
  all.filter((each, index) => all.findIndex((other) => deepEqual(each, other)) === index)
