import type { Node } from '@coracle/api'

/**
 * Where a node is by one of its labels; undefined where it has no such label. What every object inherits, such as `constructor`, is none:
 * faster than asking whether the label is the object's own.
 */
export function topologyValue({ metadata: { labels } }: Pick<Node, 'metadata'>, key: string): string | undefined {
  const value: unknown = labels?.[key]
  return typeof value === 'string' ? value : undefined
}
