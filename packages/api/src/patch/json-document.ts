/**
 * The document a JSON patch is applied to. Each object or list on the way to a change is copied once, however many
 * changes follow, so that a patch costs what document and patch are long, not their product.
 */
import { isJsonObject, type JsonObject, member, nestingMax, setMember } from '../json.ts'
import { badRequest, requestTooLarge } from '../status.ts'
import { patchDoesNotApply } from './patch-error.ts'

/**
 * Elements of lists that one patch may shift by inserting and removing before them: ten thousand operations at the head
 * of a list of ten thousand. It takes a twentieth of a second.
 */
export const listShiftsMax = 100_000_000

/** Where in a document something is, as text and as the names and positions that it stands for. */
export interface JsonPointer {
  readonly text: string
  readonly tokens: readonly string[]
}

/** Reads a pointer (https://www.rfc-editor.org/rfc/rfc6901). Throws an Invalid where it is none. */
export function parsePointer(text: string): JsonPointer {
  if (text === '') return { text, tokens: [] }
  if (!text.startsWith('/')) throw patchDoesNotApply(`${text} does not start with a slash`)
  const tokens = text.slice(1).split('/')
  return { text, tokens: text.includes('~') ? tokens.map(unescapeToken) : tokens }
}

const unescapeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** Names of operations, for messages. */
type Operation = 'add' | 'remove' | 'replace' | 'move' | 'copy'

/** A document under change. The value it was made from is never changed; what no change touches is shared with it. */
export class JsonDocument {
  #root: unknown
  #shifts = 0

  constructor(document: unknown) {
    this.#root = document
  }

  /** The value at a path; undefined where there is none. Later changes do not show in it. */
  read(pointer: JsonPointer): unknown {
    return plain(this.#find(pointer), nestingMax)
  }

  /** Whether a path ends in an object that is there, whatever of it is named. */
  isInObject({ tokens }: JsonPointer): boolean {
    let value = this.#root
    for (const token of tokens.slice(0, -1)) value = memberOf(value, token)
    return tokens.length > 0 && (value instanceof ObjectDraft || isJsonObject(value))
  }

  /** The whole document. Throws a BadRequest where changes made it nest too deep. */
  get value(): unknown {
    return plain(this.#root, nestingMax)
  }

  /** Puts a value where there may be none yet, before the element that is there in a list. Throws an Invalid where its place is missing. */
  add(pointer: JsonPointer, value: unknown): void {
    const place = this.#open(pointer, 'add')
    if (place === undefined) this.#root = value
    else if (place.container instanceof ObjectDraft) place.container.members.set(place.token, value)
    else {
      const { elements } = place.container
      const index = place.token === '-' ? elements.length : listIndex(place.token, elements.length, 'add', pointer)
      this.#shift(elements.length - index)
      elements.splice(index, 0, value)
    }
  }

  /** Puts a value in the place of another; in an object, as with the library that upstream uses, there need be none. Throws an Invalid where a list has none. */
  replace(pointer: JsonPointer, value: unknown): void {
    const place = this.#open(pointer, 'replace')
    if (place === undefined) {
      this.#root = value
      return
    }
    const { container, token } = place
    if (container instanceof ListDraft) {
      container.elements[listIndex(token, container.elements.length - 1, 'replace', pointer)] = value
      return
    }
    container.members.set(token, value)
  }

  /** Takes a value away. Throws an Invalid where there is none. */
  remove(pointer: JsonPointer): void {
    const place = this.#open(pointer, 'remove')
    if (place === undefined) {
      throw patchDoesNotApply('remove operation does not apply: the document itself cannot be removed')
    }
    const { container, token } = place
    if (container instanceof ListDraft) {
      const index = listIndex(token, container.elements.length - 1, 'remove', pointer)
      this.#shift(container.elements.length - index)
      container.elements.splice(index, 1)
    } else if (!container.members.delete(token)) {
      throw patchDoesNotApply(
        `error in remove for path: '${pointer.text}': Unable to remove nonexistent key: ${token}: missing value`,
      )
    }
  }

  /** Takes a value from one place to another, which may not be inside it. Throws an Invalid where there is no such value or place. */
  move(from: JsonPointer, to: JsonPointer): void {
    const moved = this.#find(from)
    if (moved === undefined) throw missingPath('move', from)
    if (from.text === to.text) return
    if (to.text.startsWith(`${from.text}/`)) {
      throw patchDoesNotApply(`move operation does not apply: ${to.text} is inside ${from.text}`)
    }
    this.remove(from)
    this.add(to, moved)
  }

  /** What is at a path: a draft where it has been opened. */
  #find({ tokens }: JsonPointer): unknown {
    let value = this.#root
    for (const token of tokens) value = memberOf(value, token)
    return value
  }

  /** The container that a path's last token is in, and all above it, opened for changes. Undefined for the document itself. */
  #open(pointer: JsonPointer, operation: Operation): { readonly container: Draft; readonly token: string } | undefined {
    const token = pointer.tokens.at(-1)
    if (token === undefined) return undefined
    let container = draftOf(this.#root, pointer, operation)
    this.#root = container
    for (const step of pointer.tokens.slice(0, -1)) {
      if (container instanceof ListDraft) {
        const index = listIndex(step, container.elements.length - 1, operation, pointer)
        const inner = draftOf(container.elements[index], pointer, operation)
        container.elements[index] = inner
        container = inner
      } else {
        const inner = draftOf(container.members.get(step), pointer, operation)
        container.members.set(step, inner)
        container = inner
      }
    }
    return { container, token }
  }

  #shift(elements: number): void {
    this.#shifts += elements
    if (this.#shifts <= listShiftsMax) return
    throw requestTooLarge(
      `The patch inserts and removes too much before long lists: it shifts more than ${listShiftsMax} elements, replace the list instead`,
    )
  }
}

/** No operation of a patch can name a value that is not there. */
export function missingPath(operation: Operation, { text }: JsonPointer): Error {
  return patchDoesNotApply(`${operation} operation does not apply: doc is missing path: "${text}": missing value`)
}

/** A container opened for changes: a copy whose members are JSON values, or drafts themselves. */
type Draft = ObjectDraft | ListDraft

class ObjectDraft {
  readonly members: Map<string, unknown>

  constructor(object: JsonObject) {
    this.members = new Map(Object.entries(object))
  }
}

class ListDraft {
  readonly elements: unknown[]

  constructor(list: readonly unknown[]) {
    this.elements = [...list]
  }
}

function draftOf(value: unknown, pointer: JsonPointer, operation: Operation): Draft {
  if (value instanceof ObjectDraft || value instanceof ListDraft) return value
  if (Array.isArray(value)) return new ListDraft(value)
  if (isJsonObject(value)) return new ObjectDraft(value)
  throw missingPath(operation, pointer)
}

function memberOf(value: unknown, token: string): unknown {
  if (value instanceof ObjectDraft) return value.members.get(token)
  const list = value instanceof ListDraft ? value.elements : value
  if (Array.isArray(list)) return list[positionOf(token, list.length)]
  return isJsonObject(value) ? member(value, token) : undefined
}

/** A value without drafts. Moves may have put drafts into drafts, deeper than anything may walk. */
function plain(value: unknown, depthLeft: number): unknown {
  if (!(value instanceof ObjectDraft || value instanceof ListDraft)) return value
  if (depthLeft === 0) throw badRequest('exceeded max depth')
  if (value instanceof ListDraft) return value.elements.map((each) => plain(each, depthLeft - 1))
  const object: Record<string, unknown> = {}
  for (const [key, each] of value.members) setMember(object, key, plain(each, depthLeft - 1))
  return object
}

function listIndex(token: string, last: number, operation: Operation, pointer: JsonPointer): number {
  const index = positionOf(token, last + 1)
  if (index >= 0 && index <= last) return index
  throw patchDoesNotApply(
    `${operation} operation does not apply: doc is missing path: "${pointer.text}": Unable to access invalid index: ${token}: invalid index referenced`,
  )
}

/** The position an index names among `length`; below zero it counts from the end, as the library upstream uses does. */
function positionOf(token: string, length: number): number {
  const index = /^-?(0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN
  return index < 0 ? index + length : index
}
