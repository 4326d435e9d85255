import { apiVersionOf, type ResourceDefinition } from '@coracle/api'
import type { Page } from '../../registry-contract.ts'

/** A list as the concatenation of bytes that are kept: the head, the items with a separator between them, the tail. */
export interface ListParts {
  readonly head: Buffer
  /** The same buffers for the same objects at the same revisions, as far as they are kept. */
  readonly items: readonly Buffer[]
  readonly separator: Buffer
  readonly tail: Buffer
}

const comma = Buffer.from(',')
const tail = Buffer.from(']}\n')

/** A list in JSON. */
export function jsonListParts(definition: ResourceDefinition, page: Page): ListParts {
  const metadata = JSON.stringify(listMetaOf(page))
  const head = `{"kind":${JSON.stringify(definition.listKind)},"apiVersion":${JSON.stringify(apiVersionOf(definition))},"metadata":${metadata},"items":[`
  return { head: Buffer.from(head), items: page.items.map((item) => item.bytes), separator: comma, tail }
}

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
