import { compareText, type Pod } from '@coracle/api'

/**
 * Pods in an order that does not depend on when they were heard of, for what is done to all of them at once: whoever takes over
 * from another controller, or plays its part in a copy of the cluster, goes the same way.
 */
export function byName({ metadata: a }: Pod, { metadata: b }: Pod): number {
  return compareText(a.namespace ?? '', b.namespace ?? '') || compareText(a.name ?? '', b.name ?? '')
}
