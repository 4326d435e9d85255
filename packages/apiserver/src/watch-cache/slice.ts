import type { OrderedMap } from './ordered-map.ts'
import type { Selection } from './selection.ts'
import type { StoredObject } from './stored-object.ts'

/** A part of a list in key order. */
export interface Slice {
  readonly items: readonly StoredObject[]
  /** The key of the last item, where more follow; '' at the end. */
  readonly lastKey: string
  /** How many objects follow; undefined where a selector makes that unknown. */
  readonly remaining: number | undefined
}

export interface SliceOptions {
  /** 0 for no limit. */
  readonly limit: number
  /** Only keys after this one; '' from the beginning. It comes from clients, and may lie outside of the selection's namespace. */
  readonly afterKey: string
  /** How many objects there are after `afterKey`, where that is known; else they are counted. */
  readonly following?: number | undefined
}

/** Reads part of a map in key order. */
export function sliceOf(objects: OrderedMap<StoredObject>, selection: Selection, options: SliceOptions): Slice {
  const { limit, afterKey, following } = options
  const { namespace, unfiltered } = selection
  if (unfiltered && namespace === '' && limit === 0 && afterKey === '') {
    return { items: objects.valuesArray(), lastKey: '', remaining: 0 }
  }
  const items: StoredObject[] = []
  let lastKey = ''
  let remaining = 0
  // The character after a slash is '0': the keys of a namespace lie between the two, wherever the page before is said to have ended.
  const start = namespace === '' ? '' : `${namespace}/`
  const low = afterKey > start ? afterKey : start
  const high = namespace === '' ? (objects.maxKey() ?? '') : `${namespace}0`
  objects.forRange(low, high, namespace === '', (key, stored) => {
    if (key === afterKey) return undefined
    if (!unfiltered && !selection.matches(stored.object)) return undefined
    if (limit > 0 && items.length === limit) {
      remaining = unfiltered && following !== undefined ? following - items.length : remaining + 1
      return unfiltered && following === undefined ? undefined : { break: true }
    }
    items.push(stored)
    lastKey = key
    return undefined
  })
  if (remaining === 0) return { items, lastKey: '', remaining: 0 }
  return { items, lastKey, remaining: unfiltered ? remaining : undefined }
}

/** Reads the objects under these keys, which are in order, that a selection selects. */
export function sliceOfKeys(
  keys: readonly string[],
  get: (key: string) => StoredObject | undefined,
  selection: Selection,
  limit: number,
): Slice {
  const items: StoredObject[] = []
  let lastKey = ''
  for (const key of keys) {
    const stored = get(key)
    if (stored === undefined || !selection.matches(stored.object)) continue
    if (limit > 0 && items.length === limit) return { items, lastKey, remaining: undefined }
    items.push(stored)
    lastKey = key
  }
  return { items, lastKey: '', remaining: 0 }
}
