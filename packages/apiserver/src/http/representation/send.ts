import type { ServerResponse } from 'node:http'
import type { ResourceDefinition } from '@coracle/api'
import type { Page, Stored } from '../../registry-contract.ts'
import { send } from '../respond.ts'
import type { ListWriter } from './list-writer.ts'
import type { Representation } from './representation.ts'

/** Sends a stored object of this kind. */
export function sendObject(
  response: ServerResponse,
  representation: Representation,
  code: number,
  definition: ResourceDefinition,
  stored: Stored,
  warnings: readonly string[] = [],
): void | Promise<void> {
  return send(response, code, representation.contentType, representation.object(definition, stored), warnings)
}

/** Sends a page of a list of this kind. `key` names the request, see ListWriter. */
export function sendPage(
  response: ServerResponse,
  representation: Representation,
  definition: ResourceDefinition,
  page: Page,
  lists: ListWriter,
  key: string,
): void | Promise<void> {
  const { contentType } = representation
  const made = representation.page(definition, page)
  if (made instanceof Promise || Buffer.isBuffer(made)) return send(response, 200, contentType, made)
  return lists.send(response, contentType, made, `${contentType} ${key}`)
}

/** Sends something made for this answer alone, such as a Status. */
export function sendValue(
  response: ServerResponse,
  representation: Representation,
  code: number,
  value: unknown,
  warnings: readonly string[] = [],
): void | Promise<void> {
  return send(response, code, representation.contentType, representation.value(value), warnings)
}
