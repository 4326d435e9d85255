/** JSON patches: https://www.rfc-editor.org/rfc/rfc6902, with the error texts of the library upstream uses. */
import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, member, setMember } from '../json.ts'
import { badRequest, requestTooLarge } from '../status.ts'
import { checkNesting, patchDoesNotApply } from './patch-error.ts'

/** One step of a patch. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/** Patches with more operations are refused. */
export const jsonPatchOperationsMax = 10_000

/**
 * Copies that a patch makes may add up to this many values: without a bound, a few copies of copies fill the memory.
 * Values are shared here, but whoever writes them out pays for each.
 */
export const jsonPatchCopiedValuesMax = 1_000_000

/**
 * Applies a patch, all of it or nothing. Throws a BadRequest where `patch` is no JSON patch, an Invalid where it does not
 * fit the document (a `test` that fails, a path that is not there).
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = parseJsonPatch(patch)
  const budget = { copied: 0 }
  return operations.reduce<unknown>((value, operation) => applyOperation(value, operation, budget), document)
}

/** The operations of a patch. Throws a BadRequest where it is none, RequestEntityTooLarge where it has too many. */
export function parseJsonPatch(patch: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch)) {
    throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch')
  }
  if (patch.length > jsonPatchOperationsMax) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`,
    )
  }
  checkNesting(patch)
  return patch.map(parseOperation)
}

function parseOperation(operation: unknown): JsonPatchOperation {
  if (!isJsonObject(operation)) throw badRequest('a JSON patch is a list of objects')
  const { op, path, from } = operation
  if (typeof path !== 'string') throw badRequest('operation missing path field')
  if (op === 'remove') return { op, path }
  if (op === 'add' || op === 'replace' || op === 'test') {
    // The library that upstream uses takes a value that is left out for null.
    return { op, path, value: operation.value ?? null }
  }
  if (op !== 'move' && op !== 'copy') throw badRequest(`Unexpected kind: ${String(op)}`)
  if (typeof from !== 'string') throw badRequest('operation missing from field')
  return { op, path, from }
}

interface Budget {
  copied: number
}

function applyOperation(document: unknown, operation: JsonPatchOperation, budget: Budget): unknown {
  const path = parsePointer(operation.path)
  switch (operation.op) {
    case 'add':
      return edit(document, path, 'add', operation.path, () => operation.value)
    case 'remove':
      return edit(document, path, 'remove', operation.path)
    case 'replace':
      return edit(document, path, 'replace', operation.path, () => operation.value)
    case 'test': {
      // A path that is not there has the value null, for the library that upstream uses.
      const found = read(document, path)
      if (deepEqual(found ?? null, operation.value)) return document
      throw patchDoesNotApply(`testing value ${operation.path} failed: test failed`)
    }
    case 'move': {
      const moved = readExisting(document, operation.from, 'move')
      if (operation.path === operation.from) return document
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw patchDoesNotApply(`move operation does not apply: ${operation.path} is inside ${operation.from}`)
      }
      const without = edit(document, parsePointer(operation.from), 'remove', operation.from)
      return edit(without, path, 'add', operation.path, () => moved)
    }
    case 'copy': {
      const copied = readExisting(document, operation.from, 'copy')
      budget.copied += countValues(copied)
      if (budget.copied > jsonPatchCopiedValuesMax) {
        throw requestTooLarge(
          `Unable to complete the copy, the accumulated size exceeds the limit ${jsonPatchCopiedValuesMax}`,
        )
      }
      return edit(document, path, 'add', operation.path, () => copied)
    }
  }
}

function parsePointer(pointer: string): readonly string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw patchDoesNotApply(`${pointer} does not start with a slash`)
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The value at a path; undefined where there is none. */
function read(document: unknown, path: readonly string[]): unknown {
  let value = document
  for (const token of path) {
    if (Array.isArray(value)) value = value[positionOf(token, value.length)]
    else if (isJsonObject(value)) value = member(value, token)
    else return undefined
  }
  return value
}

function readExisting(document: unknown, pointer: string, op: string): unknown {
  const value = read(document, parsePointer(pointer))
  if (value === undefined) throw missing(op, pointer)
  return value
}

type Edit = 'add' | 'remove' | 'replace'

const missing = (op: string, pointer: string): Error =>
  patchDoesNotApply(`${op} operation does not apply: doc is missing path: "${pointer}": missing value`)

/** A copy of `container` in which what `path` names is edited; everything beside the path is shared. */
function edit(container: unknown, path: readonly string[], op: Edit, pointer: string, value?: () => unknown): unknown {
  const [token, ...rest] = path
  if (token === undefined) {
    if (value === undefined)
      throw patchDoesNotApply('remove operation does not apply: the document itself cannot be removed')
    return value()
  }
  if (Array.isArray(container)) return editList(container, token, rest, op, pointer, value)
  if (isJsonObject(container)) return editObject(container, token, rest, op, pointer, value)
  throw missing(op, pointer)
}

function editObject(
  object: JsonObject,
  key: string,
  rest: readonly string[],
  op: Edit,
  pointer: string,
  value: (() => unknown) | undefined,
): JsonObject {
  const exists = Object.hasOwn(object, key)
  if (rest.length > 0) {
    if (!exists) throw missing(op, pointer)
    return withMember(object, key, edit(object[key], rest, op, pointer, value))
  }
  if (value !== undefined) {
    if (op === 'replace' && !exists) {
      throw patchDoesNotApply(`replace operation does not apply: doc is missing key: ${pointer}: missing value`)
    }
    return withMember(object, key, value())
  }
  if (!exists) {
    throw patchDoesNotApply(
      `error in remove for path: '${pointer}': Unable to remove nonexistent key: ${key}: missing value`,
    )
  }
  const { [key]: _removed, ...others } = object
  return others
}

function withMember(object: JsonObject, key: string, value: unknown): JsonObject {
  const copy = { ...object }
  setMember(copy, key, value)
  return copy
}

function editList(
  list: readonly unknown[],
  token: string,
  rest: readonly string[],
  op: Edit,
  pointer: string,
  value: (() => unknown) | undefined,
): readonly unknown[] {
  const adds = rest.length === 0 && op === 'add'
  const index =
    token === '-' && adds ? list.length : listIndex(token, adds ? list.length : list.length - 1, op, pointer)
  if (rest.length > 0) return list.with(index, edit(list[index], rest, op, pointer, value))
  if (value === undefined) return list.toSpliced(index, 1)
  return adds ? list.toSpliced(index, 0, value()) : list.with(index, value())
}

function listIndex(token: string, last: number, op: Edit, pointer: string): number {
  const index = positionOf(token, last + 1)
  if (index >= 0 && index <= last) return index
  throw patchDoesNotApply(
    `${op} operation does not apply: doc is missing path: "${pointer}": Unable to access invalid index: ${token}: invalid index referenced`,
  )
}

/** The position an index names among `length`; below zero it counts from the end, as the library upstream uses does. */
function positionOf(token: string, length: number): number {
  const index = /^-?(0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN
  return index < 0 ? index + length : index
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const each of Object.values(value)) count += countValues(each)
  return count
}
