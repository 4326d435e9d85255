import { inOneGo, type Passes, PassParts, passPartsMax } from './passes.ts'

/**
 * Sets of fields, in the very form in which managedFields hold them (`fieldsV1`): a trie in JSON whose members are path
 * elements. `f:name` is a field or a map's key, `k:{…}` a list element by its keys, `v:…` a list element by its value. An
 * element without members of its own is in the set; one with members is in it where it has the member `.`.
 * Elements are in the order of their text, so sets that hold the same fields are the same JSON.
 *
 * https://github.com/kubernetes-sigs/structured-merge-diff (fieldpath.Set)
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** The empty set; inside a set, an element that is in it and has nothing below. */
export const noFields: FieldSet = Object.freeze({})

/** Marks an element with members of its own as being in the set, too. */
export const selfElement = '.'

/**
 * Sets that are known to hold very much, and those that have one below: before a loop over one begins, V8 makes a list of all its elements.
 * What is computed of them is computed in passes.
 */
const largeSets = new WeakSet<FieldSet>()

/** Notes a set that has been made of these elements, where it is large. */
function noted(set: FieldSet, elements: readonly (readonly [string, FieldSet])[]): FieldSet {
  if (elements.length > passPartsMax || elements.some(([, below]) => isLarge(below))) largeSets.add(set)
  return set
}

const isLarge = (set: FieldSet): boolean => set !== noFields && largeSets.has(set)

export function isEmptySet(set: FieldSet): boolean {
  if (set === noFields) return true
  if (largeSets.has(set)) return false
  for (const _element in set) return false
  return true
}

/** Of so many names, no longer than that, the elements are kept: a text that is there is hashed already. Beyond that all are forgotten. */
const fieldElementsMax = 4096
const fieldNameLengthMax = 126
const fieldElements = new Map<string, string>()

/** The text of a path element for a field or a map's key. */
export function fieldElement(name: string): string {
  const known = fieldElements.get(name)
  if (known !== undefined) return known
  const element = `f:${name}`
  if (name.length > fieldNameLengthMax) return element
  if (fieldElements.size >= fieldElementsMax) fieldElements.clear()
  fieldElements.set(name, element)
  return element
}

/** The fields in either. */
export function unionOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a
  if (isEmptySet(a)) return b
  return containsAll(a, b) ? a : sorted(joinElements(a, b))
}

function containsAll(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    if (element === selfElement) continue
    const own = elementIn(a, element)
    const other = elementOf(b, element)
    if (own === undefined) return false
    if (own !== other && ((isMember(other) && !isMember(own)) || !containsAll(own, other))) return false
  }
  return true
}

/** The fields in both. */
export function intersectionOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(a)) return a
  if (isEmptySet(b)) return b
  return elementsOf(a, (element, below) => {
    const other = elementIn(b, element)
    return other === undefined ? undefined : commonPart(below, other)
  })
}

/** The fields of `a` that are not in `b`. Fields below one that is in `b` stay. */
export function differenceOf(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return noFields
  return isEmptySet(b) ? a : differenceBelow(a, b)
}

function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  return elementsOf(a, (element, below) => {
    const other = elementIn(b, element)
    return other === undefined ? below : rest(below, other)
  })
}

/** The fields of `a` that are neither in `b` nor below a field that is. */
export function recursiveDifferenceOf(a: FieldSet, b: FieldSet): FieldSet {
  return elementsOf(a, (element, below) => {
    const other = elementIn(b, element)
    if (other === undefined) return below
    if (isMember(other)) return undefined
    const members = elementsOf(below, (each, node) => outside(node, elementIn(other, each)))
    return nodeOf(isMember(below), members)
  })
}

/** `unionOf`, in passes. */
export function* uniting(a: FieldSet, b: FieldSet): Passes<FieldSet> {
  if (a === b || isEmptySet(b)) return a
  if (isEmptySet(a)) return b
  if (!isLarge(a) && !isLarge(b)) return unionOf(a, b)
  const parts = new PassParts()
  const joined = new Map<string, FieldSet>()
  let hasMore = false
  for (const element in a) {
    if (parts.isFull()) yield
    joined.set(element, elementOf(a, element))
  }
  for (const element in b) {
    if (parts.isFull()) yield
    const [own, below] = [joined.get(element), elementOf(b, element)]
    const node =
      own === undefined
        ? below
        : isLarge(own) || isLarge(below)
          ? yield* joining(own, below)
          : isWithin(below, own)
            ? own
            : joinNodes(own, below)
    hasMore ||= node !== own
    joined.set(element, node)
  }
  return hasMore ? yield* inPasses([...joined]) : a
}

/** Whether a node of a set has all that another has. */
const isWithin = (part: FieldSet, whole: FieldSet): boolean =>
  part === whole || ((isMember(whole) || !isMember(part)) && containsAll(whole, part))

function* joining(a: FieldSet, b: FieldSet): Passes<FieldSet> {
  const united = yield* uniting(a, b)
  const isIn = isMember(a) || isMember(b)
  return isIn === isMember(united) ? united : ((yield* nodeInPasses(isIn, united)) ?? noFields)
}

/** `intersectionOf`, in passes. */
export function* intersecting(a: FieldSet, b: FieldSet): Passes<FieldSet> {
  if (a === b || isEmptySet(a)) return a
  if (isEmptySet(b)) return b
  if (!isLarge(a) && !isLarge(b)) return intersectionOf(a, b)
  return yield* choosing(a, b, {
    alone: () => undefined,
    both: commonPart,
    *large(own, other) {
      return own === other
        ? own
        : yield* nodeInPasses(isMember(own) && isMember(other), yield* intersecting(own, other))
    },
  })
}

/** `differenceOf`, in passes. */
export function* subtracting(a: FieldSet, b: FieldSet): Passes<FieldSet> {
  if (a === b) return noFields
  if (isEmptySet(b)) return a
  if (!isLarge(a) && !isLarge(b)) return differenceOf(a, b)
  return yield* choosing(a, b, {
    alone: (own) => own,
    both: rest,
    *large(own, other) {
      if (own === other) return undefined
      return yield* nodeInPasses(isMember(own) && !isMember(other), yield* subtracting(own, other))
    },
  })
}

/** What becomes of an element of a set that another set may have, too. */
interface Choice {
  alone(own: FieldSet): FieldSet | undefined
  both(own: FieldSet, other: FieldSet): FieldSet | undefined
  large(own: FieldSet, other: FieldSet): Passes<FieldSet | undefined>
}

/** As `elementsOf`, in passes. */
function* choosing(a: FieldSet, b: FieldSet, choice: Choice): Passes<FieldSet> {
  const parts = new PassParts()
  const kept: [string, FieldSet][] = []
  let same = true
  for (const element in a) {
    if (parts.isFull()) yield
    if (element === selfElement) {
      same = false
      continue
    }
    const [own, other] = [elementOf(a, element), elementIn(b, element)]
    const chosen =
      other === undefined
        ? choice.alone(own)
        : isLarge(own) || isLarge(other)
          ? yield* choice.large(own, other)
          : choice.both(own, other)
    if (chosen !== undefined) kept.push([element, chosen])
    same &&= chosen === own
  }
  if (same) return a
  return kept.length === 0 ? noFields : yield* inPasses(kept)
}

/** `nodeOf`, in passes. */
export function* nodeInPasses(member: boolean, below: FieldSet): Passes<FieldSet | undefined> {
  if (!isLarge(below)) return nodeOf(member, below)
  if (!member) return below
  const parts = new PassParts()
  const nodes: [string, FieldSet][] = [[selfElement, noFields]]
  for (const element in below) {
    if (parts.isFull()) yield
    if (element !== selfElement) nodes.push([element, elementOf(below, element)])
  }
  return yield* inPasses(nodes)
}

/** The set of these elements, each of which is there once. */
export const inPasses = (nodes: [string, FieldSet][]): Passes<FieldSet> => sorting(nodes)

/** Whether the sets hold the same fields. */
export function sameFields(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  const elements = Object.keys(a)
  if (elements.length !== Object.keys(b).length) return false
  return elements.every((element) => {
    const other = elementIn(b, element)
    return other !== undefined && sameFields(elementOf(a, element), other)
  })
}

/** Whether this element of a set is in the set itself, and not only on the way to others. */
export function isMember(node: FieldSet): boolean {
  return selfElement in node || isEmptySet(node)
}

/** What is below an element; undefined where the set says nothing of it. */
export function elementIn(set: FieldSet, element: string): FieldSet | undefined {
  return Object.hasOwn(set, element) ? set[element] : undefined
}

/** Every field of a set as the path elements that lead to it: those of a level in order, then what is below them. */
export function* pathsOf(set: FieldSet, above: readonly string[] = []): Generator<readonly string[]> {
  const elements = Object.keys(set).filter((element) => element !== selfElement)
  for (const element of elements) if (isMember(elementOf(set, element))) yield [...above, element]
  for (const element of elements) yield* pathsOf(elementOf(set, element), [...above, element])
}

/** Builds a set from its fields. A field put in twice is in it once. */
export class FieldSetBuilder {
  readonly #root: FieldSetNode = { member: false, below: undefined }

  get root(): FieldSetNode {
    return this.#root
  }

  build(): FieldSet {
    return inOneGo(this.building())
  }

  /** The same, in passes. */
  *building(): Passes<FieldSet> {
    return (yield* freezing(this.#root, true)) ?? noFields
  }
}

/** One element of a set under construction. */
export interface FieldSetNode {
  /** Puts the element itself into the set. */
  member: boolean
  below: Map<string, FieldSetNode> | undefined
}

/** The node below another, made where it is not there yet. */
export function nodeBelow(node: FieldSetNode, element: string): FieldSetNode {
  node.below ??= new Map()
  const known = node.below.get(element)
  if (known !== undefined) return known
  const made: FieldSetNode = { member: false, below: undefined }
  node.below.set(element, made)
  return made
}

function* freezing({ member, below }: FieldSetNode, isRoot: boolean): Passes<FieldSet | undefined> {
  const nodes: [string, FieldSet][] = []
  let left = passPartsMax
  for (const [element, node] of below ?? []) {
    if (left-- === 0) {
      left = passPartsMax
      yield
    }
    const made = node.below === undefined ? leaf(node) : yield* freezing(node, false)
    if (made !== undefined) nodes.push([element, made])
  }
  if (nodes.length === 0) return member && !isRoot ? noFields : undefined
  if (member && !isRoot) nodes.push([selfElement, noFields])
  return nodes.length <= passPartsMax ? sorted(nodes) : yield* sorting(nodes)
}

const leaf = ({ member }: FieldSetNode): FieldSet | undefined => (member ? noFields : undefined)

const elementOf = (set: FieldSet, element: string): FieldSet => set[element] ?? noFields

/** A node of a set: in it where `member`, with what is below; undefined where it is nothing at all. */
export function nodeOf(member: boolean, below: FieldSet): FieldSet | undefined {
  if (isEmptySet(below)) return member ? noFields : undefined
  return member ? sorted([[selfElement, noFields], ...Object.entries(below)]) : below
}

/**
 * The elements below a node that `choose` keeps, with what it keeps of them, without the mark that the node itself is in the
 * set. The node itself where nothing changes.
 */
function elementsOf(set: FieldSet, choose: (element: string, below: FieldSet) => FieldSet | undefined): FieldSet {
  const kept: [string, FieldSet][] = []
  let same = true
  for (const element in set) {
    const below = elementOf(set, element)
    const chosen = element === selfElement ? undefined : choose(element, below)
    if (chosen !== undefined) kept.push([element, chosen])
    same &&= chosen === below
  }
  if (same) return set
  if (kept.length === 0) return noFields
  return noted(Object.freeze(Object.fromEntries(kept)), kept)
}

function joinElements(a: FieldSet, b: FieldSet): [string, FieldSet][] {
  const joined = new Map(Object.entries(a))
  for (const [element, below] of Object.entries(b)) {
    const own = joined.get(element)
    joined.set(element, own === undefined ? below : joinNodes(own, below))
  }
  return [...joined]
}

function joinNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const elements = joinElements(a, b).filter(([element]) => element !== selfElement)
  if (elements.length === 0) return noFields
  return sorted(isMember(a) || isMember(b) ? [[selfElement, noFields], ...elements] : elements)
}

function commonPart(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a
  return nodeOf(isMember(a) && isMember(b), intersectionOf(a, b))
}

function rest(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return undefined
  return nodeOf(isMember(a) && !isMember(b), differenceBelow(a, b))
}

function outside(node: FieldSet, other: FieldSet | undefined): FieldSet | undefined {
  if (other === undefined) return node
  if (isMember(other)) return undefined
  return nodeOf(isMember(node), recursiveDifferenceOf(node, other))
}

/** The node, or the set, with these elements, each of which is there once. */
export function setOfElements(nodes: [string, FieldSet][]): FieldSet {
  return sorted(nodes)
}

function sorted(nodes: [string, FieldSet][]): FieldSet {
  const set: Record<string, FieldSet> = {}
  // No element is called `__proto__`: their kinds come first.
  for (const [element, below] of inTextOrder(nodes)) set[element] = below
  return noted(Object.freeze(set), nodes)
}

function* sorting(nodes: [string, FieldSet][]): Passes<FieldSet> {
  const set: Record<string, FieldSet> = {}
  let left = passPartsMax
  for (const [element, below] of inTextOrder(nodes)) {
    if (left-- === 0) {
      left = passPartsMax
      yield
    }
    set[element] = below
  }
  return noted(Object.freeze(set), nodes)
}

function inTextOrder(nodes: [string, FieldSet][]): [string, FieldSet][] {
  return nodes.length > 1 ? nodes.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) : nodes
}
