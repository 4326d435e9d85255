/** JSON patches: https://www.rfc-editor.org/rfc/rfc6902, with the error texts of the library upstream uses. */
import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, jsonTypeOf } from '../json.ts'
import { ApiError, badRequest, requestTooLarge } from '../status.ts'
import { JsonDocument, messages, parsePointer } from './json-document.ts'
import { checkNesting, patchDoesNotApply } from './patch-error.ts'

/** One step of a patch. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move'; readonly path: string; readonly from: string }
  | Copy

interface Copy {
  readonly op: 'copy'
  readonly path: string
  readonly from: string
}

/** Patches with more operations are refused. */
export const jsonPatchOperationsMax = 10_000

/**
 * What a patch copies may add up to this many bytes of JSON (upstream's number): without a bound, a few copies of copies
 * fill the memory.
 */
export const jsonPatchCopiedBytesMax = 3 * 1024 * 1024

/**
 * Applies a patch, all of it or nothing. The document is not changed, and what the patch does not touch is shared with
 * it. Throws a BadRequest where `patch` is no JSON patch, an Invalid where it does not fit the document (a `test` that
 * fails, a path that is not there), RequestEntityTooLarge where it asks for too much work.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const edited = new JsonDocument(document)
  let copiedBytes = 0
  for (const each of operationsOf(patch)) {
    const operation = parseOperation(each)
    if (operation.op === 'copy') copiedBytes = copy(edited, operation, copiedBytes)
    else applyOperation(edited, operation)
  }
  return edited.value
}

/** The operations of a patch, whatever they say. Throws a BadRequest where it is none, RequestEntityTooLarge where it has too many. */
function operationsOf(patch: unknown): readonly (JsonObject | null)[] {
  if (!Array.isArray(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonTypeOf(patch)} into Go value of type jsonpatch.Patch`)
  }
  if (patch.length > jsonPatchOperationsMax) {
    throw requestTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`,
    )
  }
  checkNesting(patch)
  for (const operation of patch) {
    if (operation !== null && !isJsonObject(operation)) {
      throw badRequest(`json: cannot unmarshal ${jsonTypeOf(operation)} into Go value of type jsonpatch.Operation`)
    }
  }
  return patch
}

const kinds = ['add', 'remove', 'replace', 'move', 'test', 'copy'] as const

/** Throws an Invalid, in the words of the library upstream uses, where it does not say what to do. */
function parseOperation(operation: JsonObject | null): JsonPatchOperation {
  const op = kinds.find((kind) => kind === operation?.op)
  if (operation === null || op === undefined) {
    const kind = typeof operation?.op === 'string' ? operation.op : 'unknown'
    throw patchDoesNotApply(`Unexpected kind: ${kind}`)
  }
  const from = op === 'move' || op === 'copy' ? requireText(operation.from, op, 'from') : ''
  const path = requireText(operation.path, op, 'path')
  if (op === 'remove') return { op, path }
  if (op === 'move' || op === 'copy') return { op, path, from }
  // The library that upstream uses takes a value that is left out for null.
  return { op, path, value: operation.value ?? null }
}

function requireText(value: unknown, op: (typeof kinds)[number], field: 'path' | 'from'): string {
  if (typeof value === 'string') return value
  const isShort = field === 'path' && (op === 'add' || op === 'remove' || op === 'copy')
  const absent = field === 'path' ? 'operation missing path field: ' : 'operation, missing from field: '
  const why =
    isShort || value === undefined || value === null
      ? `${isShort ? '' : absent}missing value`
      : `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type string`
  throw patchDoesNotApply(`${op} operation failed to decode ${field}: ${why}`)
}

function applyOperation(document: JsonDocument, operation: Exclude<JsonPatchOperation, Copy>): void {
  const path = parsePointer(operation.path)
  switch (operation.op) {
    case 'add':
      document.add(path, operation.value)
      break
    case 'remove':
      document.remove(path)
      break
    case 'replace':
      document.replace(path, operation.value)
      break
    case 'move':
      document.move(parsePointer(operation.from), path)
      break
    case 'test':
      // What an object does not have is null, for the library that upstream uses.
      if (!deepEqual(document.read(path, messages.test), operation.value)) {
        throw patchDoesNotApply(`testing value ${operation.path} failed: ${testFailed}`)
      }
  }
}

/** Copies a value, and adds its size to what was copied before. */
function copy(document: JsonDocument, { from, path }: Copy, copiedBytesBefore: number): number {
  // What an object does not have is copied as null, by the library that upstream uses.
  const value = document.read(parsePointer(from), messages.copyFrom)
  const copiedBytes = copiedBytesBefore + Buffer.byteLength(JSON.stringify(value))
  if (copiedBytes > jsonPatchCopiedBytesMax) {
    throw patchDoesNotApply(
      `Unable to complete the copy, the accumulated size increase of copy is ${copiedBytes}, exceeding the limit ${jsonPatchCopiedBytesMax}`,
    )
  }
  document.add(parsePointer(path), value, messages.copyTo)
  return copiedBytes
}

const testFailed = 'test failed'

/** Whether a patch does not apply because of one of its own tests. */
export function isFailedTest(error: unknown): boolean {
  const [cause] = error instanceof ApiError ? (error.status.details?.causes ?? []) : []
  return cause?.message?.endsWith(`: ${testFailed}`) === true
}
