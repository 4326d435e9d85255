import type { Container } from './kinds/core/pod/container.ts'
import type { ResourceFieldSelector } from './kinds/core/pod/resources.ts'
import type { ObjectMeta } from './meta.ts'
import { ownValue } from './own-value.ts'
import { parseQuantity } from './quantity.ts'

/** What the downward API says of an object's own metadata; undefined where the path is about something else. */
export function metadataFieldValue(
  path: string,
  { name, namespace, uid, ...metadata }: ObjectMeta,
): string | undefined {
  const subscripted = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (subscripted !== null)
    return ownValue(metadata[subscripted[1] as 'labels' | 'annotations'], subscripted[2] ?? '') ?? ''
  switch (path) {
    case 'metadata.name':
      return name ?? ''
    case 'metadata.namespace':
      return namespace ?? ''
    case 'metadata.uid':
      return uid ?? ''
    default:
      return undefined
  }
}

/**
 * The value of a container's resource in units of the selector's divisor, rounded up. A limit that is not set is what the
 * node has to offer. Throws, with upstream's message, where the resource is none of those the downward API knows.
 */
export function containerResourceValue(
  { resource, divisor = '0' }: ResourceFieldSelector,
  { resources }: Container,
  allocatable: Readonly<Record<string, string>> = {},
): string {
  const match = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(resource)
  if (match === null) throw new Error(`unsupported container resource : ${resource}`)
  const [, kind = '', name = ''] = match
  const own = parseQuantity(resources?.[kind as 'limits' | 'requests']?.[name] ?? '0').nanos
  // Huge pages are never given to more than there are.
  const isOffered = kind === 'limits' && own === 0n && !name.startsWith('hugepages-')
  const amount = isOffered ? parseQuantity(allocatable[name] ?? '0').nanos : own
  const unit = parseQuantity(divisor).nanos || parseQuantity('1').nanos
  return String((amount + unit - 1n) / unit)
}
