/**
 * The document a JSON patch is applied to. Each object or list on the way to a change is copied once, however many
 * changes follow, so that a patch costs what document and patch are long, not their product.
 */
import { int64Of } from '../go-text.ts'
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

/**
 * Reads a pointer (https://www.rfc-editor.org/rfc/rfc6901). What stands before its first slash is passed over, as the library upstream uses
 * does; a text without a slash leads nowhere.
 */
export function parsePointer(text: string): JsonPointer {
  const tokens = text.split('/').slice(1)
  return { text, tokens: text.includes('~') ? tokens.map(unescapeToken) : tokens }
}

const unescapeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** What is said where an operation finds no container at a path, and where its container has no such place, in the words of the library upstream uses. */
export interface Messages {
  readonly noContainer: (path: string) => string
  readonly noPlace: (path: string, why: string, token: string) => string
}

const missing = 'missing value'
const placeIn = (operation: string) => (path: string, why: string) =>
  `error in ${operation} for path: '${path}': ${why}`

/** What operations say of a path of theirs. */
export const messages = {
  add: {
    noContainer: (path) => `add operation does not apply: doc is missing path: "${path}": ${missing}`,
    noPlace: placeIn('add'),
  },
  remove: {
    noContainer: (path) => `remove operation does not apply: doc is missing path: "${path}": ${missing}`,
    noPlace: placeIn('remove'),
  },
  replace: {
    noContainer: (path) => `replace operation does not apply: doc is missing path: ${path}: ${missing}`,
    noPlace: (path) => `replace operation does not apply: doc is missing key: ${path}: ${missing}`,
  },
  test: {
    noContainer: (path) => `test operation does not apply: is missing path: ${path}: ${missing}`,
    noPlace: placeIn('test'),
  },
  moveFrom: {
    noContainer: (path) => `move operation does not apply: doc is missing from path: ${path}: ${missing}`,
    noPlace: (_path, why, token) => placeIn('move')(token, why),
  },
  moveTo: {
    noContainer: (path) => `move operation does not apply: doc is missing destination path: ${path}: ${missing}`,
    noPlace: placeIn('move'),
  },
  copyFrom: {
    noContainer: (path) => `copy operation does not apply: doc is missing from path: ${path}: ${missing}`,
    noPlace: (path, why) => `error in copy for from: '${path}': ${why}`,
  },
  copyTo: {
    noContainer: (path) => `copy operation does not apply: doc is missing destination path: ${path}: ${missing}`,
    noPlace: (_path, why) => `error while adding value during copy: ${why}`,
  },
} as const satisfies Readonly<Record<string, Messages>>

/** A document under change. The value it was made from is never changed; what no change touches is shared with it. */
export class JsonDocument {
  #root: unknown
  #shifts = 0

  constructor(document: unknown) {
    this.#root = document
  }

  /**
   * The value at a path, null where an object has none. Later changes do not show in it. Throws an Invalid, in the words of `told`, where
   * the path ends in no container, or in a list without such an element.
   */
  read(pointer: JsonPointer, told: Messages): unknown {
    return plain(this.#find(pointer, told), nestingMax) ?? null
  }

  /** The whole document. Throws a BadRequest where changes made it nest too deep. */
  get value(): unknown {
    return plain(this.#root, nestingMax)
  }

  /** Puts a value where there may be none yet, before the element that is there in a list. Throws an Invalid where its place is missing. */
  add(pointer: JsonPointer, value: unknown, told: Messages = messages.add): void {
    const { container, token } = this.#open(pointer, told)
    if (container instanceof ObjectDraft) container.members.set(token, value)
    else {
      const { elements } = container
      const index = token === '-' ? elements.length : listIndex(token, elements.length, pointer, told, notProper)
      this.#shift(elements.length - index)
      elements.splice(index, 0, value)
    }
  }

  /** Puts a value in the place of another; in an object, as with the library that upstream uses, there need be none. Throws an Invalid where a list has none, and where the whole would be neither object nor list. */
  replace(pointer: JsonPointer, value: unknown): void {
    if (pointer.text === '') {
      if (!isContainer(value)) throw patchDoesNotApply('replace operation value must be object or array')
      this.#root = value
      return
    }
    const { container, token } = this.#open(pointer, messages.replace)
    if (container instanceof ListDraft) {
      container.elements[listIndex(token, container.elements.length - 1, pointer, messages.replace)] = value
      return
    }
    container.members.set(token, value)
  }

  /** Takes a value away. Throws an Invalid where there is none. */
  remove(pointer: JsonPointer, told: Messages = messages.remove): void {
    const { container, token } = this.#open(pointer, told)
    if (container instanceof ListDraft) {
      const index = listIndex(token, container.elements.length - 1, pointer, told)
      this.#shift(container.elements.length - index)
      container.elements.splice(index, 1)
    } else if (!container.members.delete(token)) {
      const why = `Unable to remove nonexistent key: ${token}: ${missing}`
      throw patchDoesNotApply(told.noPlace(pointer.text, why, token))
    }
  }

  /** Takes a value from one place to another, which may not be inside it. Throws an Invalid where there is no such value or place. */
  move(from: JsonPointer, to: JsonPointer): void {
    const moved = this.#find(from, messages.moveFrom)
    if (moved !== undefined && from.text === to.text) return
    this.remove(from, messages.moveFrom)
    this.add(to, moved, messages.moveTo)
  }

  /** What is at a path: a draft where it has been opened, undefined where an object has nothing there. */
  #find(pointer: JsonPointer, told: Messages): unknown {
    let container = this.#root
    for (const step of pointer.tokens.slice(0, -1)) container = memberOf(container, step)
    const token = pointer.tokens.at(-1)
    if (pointer.text === '' && told === messages.test) return container
    if (token === undefined || !isContainer(container)) throw patchDoesNotApply(told.noContainer(pointer.text))
    const list = container instanceof ListDraft ? container.elements : container
    return Array.isArray(list) ? list[listIndex(token, list.length - 1, pointer, told)] : memberOf(container, token)
  }

  /** The container that a path's last token is in, and all above it, opened for changes. */
  #open(pointer: JsonPointer, told: Messages): { readonly container: Draft; readonly token: string } {
    const refusal = () => patchDoesNotApply(told.noContainer(pointer.text))
    const draft = (value: unknown): Draft => {
      const opened = draftOf(value)
      if (opened === undefined) throw refusal()
      return opened
    }
    const token = pointer.tokens.at(-1)
    if (token === undefined) throw refusal()
    let container = draft(this.#root)
    this.#root = container
    for (const step of pointer.tokens.slice(0, -1)) {
      if (container instanceof ListDraft) {
        const index = positionOf(step, container.elements.length)
        const inner = draft(container.elements[index])
        container.elements[index] = inner
        container = inner
      } else {
        const inner = draft(container.members.get(step))
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

/** Undefined for what holds nothing. */
function draftOf(value: unknown): Draft | undefined {
  if (value instanceof ObjectDraft || value instanceof ListDraft) return value
  if (Array.isArray(value)) return new ListDraft(value)
  return isJsonObject(value) ? new ObjectDraft(value) : undefined
}

const isContainer = (value: unknown): boolean =>
  value instanceof ObjectDraft || value instanceof ListDraft || Array.isArray(value) || isJsonObject(value)

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

const notProper = (token: string): string => `value was not a proper array index: '${token}': `

function listIndex(
  token: string,
  last: number,
  { text }: JsonPointer,
  told: Messages,
  noNumber: (token: string) => string = () => '',
): number {
  const index = positionOf(token, last + 1)
  if (index >= 0 && index <= last) return index
  const why = Number.isNaN(index)
    ? `${noNumber(token)}strconv.Atoi: parsing ${JSON.stringify(token)}: ${/^[+-]?\d+$/.test(token) ? 'value out of range' : 'invalid syntax'}`
    : `Unable to access invalid index: ${int64Of(token)}: invalid index referenced`
  throw patchDoesNotApply(told.noPlace(text, why, token))
}

/** The position an index names among `length`; below zero it counts from the end, as the library upstream uses does. */
function positionOf(token: string, length: number): number {
  const index = Number(int64Of(token) ?? Number.NaN)
  return index < 0 ? index + length : index
}
