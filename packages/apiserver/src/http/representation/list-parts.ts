import { apiVersionOf, type ResourceDefinition } from '@coracle/api'
import type { Page } from '../../registry-contract.ts'

/** A list as the concatenation of bytes that are kept: the head, the items with a separator between them, the tail. */
export interface ListParts {
  readonly head: Buffer
  /** The same buffers for the same objects at the same revisions, as far as they are kept. */
  readonly items: readonly Buffer[]
  /** How many bytes at the beginning of each item are left out. */
  readonly skipped: number
  readonly separator: Buffer
  readonly tail: Buffer
}

const comma = Buffer.from(',')
const tail = Buffer.from(']}\n')

const openBrace = '{'
const commaAndBrace = Buffer.from(',{')

/** A list in JSON. */
export function jsonListParts(definition: ResourceDefinition, page: Page): ListParts {
  const metadata = JSON.stringify(wholeListMetaOf(definition, page))
  const head = `{"kind":${JSON.stringify(definition.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(definition))},"metadata":${metadata},"items":[`
  const items = page.items.map((item) => item.bytes)
  const type = hasTypedItems(definition) ? typeOf(definition) : undefined
  if (items.length === 0 || type === undefined || !items.every((item) => startsWith(item, type))) {
    return { head: Buffer.from(head), items, skipped: 0, separator: comma, tail }
  }
  return { head: Buffer.from(head + openBrace), items, skipped: type.length, separator: commaAndBrace, tail }
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
