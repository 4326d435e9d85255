import { apiVersionOf, type ResourceDefinition } from '@coracle/api'
import type { Page } from '../../registry-contract.ts'

/** A list as the concatenation of bytes that are kept: the head, the items, the tail. */
export interface ListParts {
  readonly head: Buffer
  /** The same buffers for the same objects at the same revisions, as far as they are kept. */
  readonly items: readonly Buffer[]
  /** How these items are joined: the same items are always joined alike. It may look at each of them. */
  framing(): Framing
  readonly tail: Buffer
}

/** How items are joined. */
export interface Framing {
  /** Before the first item. */
  readonly opening: Buffer
  /** How many bytes at the beginning of each item are left out. */
  readonly skipped: number
  readonly separator: Buffer
}

const nothing = Buffer.alloc(0)
const tail = Buffer.from(']}\n')

/** Items one after the other, as they are. */
export const concatenated: Framing = { opening: nothing, skipped: 0, separator: nothing }

const wholeItems: Framing = { opening: nothing, skipped: 0, separator: Buffer.from(',') }

/** A list in JSON. */
export function jsonListParts(definition: ResourceDefinition, page: Page): ListParts {
  const metadata = JSON.stringify(wholeListMetaOf(definition, page))
  const head = `{"kind":${JSON.stringify(definition.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(definition))},"metadata":${metadata},"items":[`
  const items = page.items.map((item) => item.bytes)
  const framing = () => (hasTypedItems(definition) ? framingWithoutType(items, typeOf(definition)) : wholeItems)
  return { head: Buffer.from(head), items, framing, tail }
}

/** Items without their type, which the list says already. One that does not begin with it was not written by this program: all stay whole. */
function framingWithoutType(items: readonly Buffer[], type: Buffer): Framing {
  if (!items.every((item) => startsWith(item, type))) return wholeItems
  return { opening: Buffer.from('{'), skipped: type.length, separator: Buffer.from(',{') }
}

/**
 * Whether items of lists are without kind and version, which the list says already. So it is with all kinds that upstream has a Go type
 * for: converting a list passes over the types of its items. Custom objects keep theirs.
 */
export function hasTypedItems({ schema }: ResourceDefinition): boolean {
  return schema.dialect !== 'structural'
}

/** How the JSON of each object of the kind begins. */
function typeOf(definition: ResourceDefinition): Buffer {
  const { kind } = definition
  return Buffer.from(`{"apiVersion":${JSON.stringify(apiVersionOf(definition))},"kind":${JSON.stringify(kind)},`)
}

const startsWith = (bytes: Buffer, start: Buffer): boolean => start.compare(bytes, 0, start.length) === 0

/** The `metadata` of a list of whole objects: of custom kinds it says, too, that nothing follows. */
export const wholeListMetaOf = (definition: ResourceDefinition, page: Page) => ({
  ...(hasTypedItems(definition) ? {} : { continue: '' }),
  ...listMetaOf(page),
})

/** A list's `metadata`. */
export function listMetaOf(page: Page) {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue === '' ? {} : { continue: page.continue }),
    ...(page.remainingItemCount === undefined || page.remainingItemCount === 0
      ? {}
      : { remainingItemCount: page.remainingItemCount }),
  }
}
